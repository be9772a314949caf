"""A random differential test: what psijoin finds, held against DuckDB.

Random pairs of tables are joined by two processes of psijoin, and DuckDB computes from the same
files, in SQL, what must come out. What is expected is written from the documentation alone:
`crates/table/src/lib.rs`, `docs/tutorial.md`, `docs/tables.md` and `docs/functions.md`.

From the values to the verdict:

    column_types, rules   the canonical texts of types and rules, in SQL
    kinds, amounts        random values of keys, and the ways to write them; numbers to add up
    formats, parts        how files are written, and which there are
    tables                tables, their files, and what DuckDB is given of them
    pairs                 a random pair of tables
    meanings              what key columns mean
    joins                 what is asked of the pair, and the two command lines
    expectation           what DuckDB says
    comparison            where psijoin says something else
    unreadable            cells that a rule cannot read
    summary               what was covered
"""
