"""Random Parquet and Arrow files of all types, joined, against pyarrow and DuckDB.

The types are those of Arrow's `Schema.fbs` and of Parquet's `LogicalTypes.md` that pyarrow can
write, with values at their extremes. Those of Parquet alone (GEOMETRY, VARIANT, BSON, ENUM,
INTERVAL) are in crates/table/tests.
"""
