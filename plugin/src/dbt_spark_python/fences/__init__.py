"""The uses of interfaces that are not public, one function in each module, with the versions that it was tested with.

An upgrade of pyspark, Sail, Python or Linux may break them; `tests/test_fences.py` then fails first and names the one.
"""
