"""Reduces records (tangles whose messages set fields) to the value of each field at the tips.

`reduction.reduce_records` takes the rows of a Spark partition, `reduction.reduce_record` the members of one record.
"""
