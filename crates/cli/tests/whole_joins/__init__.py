"""Whole joins of two files, timed beside DuckDB's."""
