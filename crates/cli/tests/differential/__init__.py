"""A random differential test: what psijoin finds, held against DuckDB.

Random pairs of tables are joined by two processes of psijoin, and DuckDB computes from the same
files, in SQL, what must come out. What is expected is written from the documentation alone:
`crates/table/src/lib.rs`, `docs/tutorial.md` and `docs/functions.md`.

From the values to the verdict:

    column_types, rules   the canonical texts of types and rules, in SQL
    kinds, amounts        random values of keys, and the ways to write them; numbers to add up
    tables                formats: how tables are written, and how DuckDB reads them
    pairs                 a random pair of tables
    joins                 what is asked of the pair, and the two command lines
    expectation           what DuckDB says
    comparison            where psijoin says something else
    summary               what was covered
"""
