"""Joins of Spark's DataFrames: `docs/spark.md`.

    shared = psijoin.spark.receive(customers, on="email", peer="bob", relay="wss://example.org/")
    shared.write.parquet("s3://bucket/shared")

The columns of the key go to the driver, which joins as a `psijoin.Session` does. What comes back is
a DataFrame: the rows whose key is shared.

It takes PySpark 4.0 or later, with pyarrow: `pip install "psijoin[spark]"`.
"""

from psijoin.spark._driver import Shared, count, grouped, receive, send, sum, threshold

__all__ = ["Shared", "count", "grouped", "receive", "send", "sum", "threshold"]
