"""Random Parquet and Arrow files of all types, joined, and compared with what was drawn.

The types are listed from the definitions of the formats: `Schema.fbs` in `arrow_types` and
`nested_types`, `parquet.thrift` in `parquet_types`; beside them extension types, and those that
DuckDB and Polars have of their own. Each says for which uses psijoin refuses it, by the names of
the column and the type, and is equal in all others: as a key, kept in each format, and given. A
type is drawn at its extremes. Keys are compared with DuckDB's, too, where it can read them, outputs
are read with pyarrow, and what an output claims of its values is checked.
"""
