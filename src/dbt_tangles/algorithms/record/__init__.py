"""Reduces records (tangles whose messages set fields) to the value of each field at the tips.

`reduce_record` reduces one record; `record_batches.reduce_record_batches`, its caller, runs on the rows of a Spark
partition.
"""
