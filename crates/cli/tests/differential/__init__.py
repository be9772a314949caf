"""A random differential test: what psijoin finds, held against DuckDB.

Random pairs of tables are joined by two processes of psijoin, and DuckDB computes from the same
files, in SQL, what must come out. The expectation is written from the documentation alone:
`crates/source/src/lib.rs`, `crates/table/src/lib.rs` and `share.rs` next to it,
`docs/tutorial.md`, `docs/tables.md`, `docs/join.md` and `docs/functions.md`.

From the values to the verdict:

    column_types, rules   the canonical texts of types and rules, in SQL
    kinds, amounts        random values of keys, and the ways to write them; numbers to add up
    cells                 columns of them
    labels                columns by which keys are grouped
    formats, parts        how files are written, and which there are
    tables                tables, their files, and what DuckDB is given of them
    pairs                 a random pair of tables
    meanings              what key columns mean
    given_bytes, giving   what a party gives beside its keys, and the other one takes
    joins                 what is asked of the pair, and the two command lines
    expectation           what DuckDB says
    joined_rows           the rows that come out: an inner, a left or an anti join
    endings               how a join ends, and with which exit codes
    comparison            where psijoin says something else
    row_comparison        the same, of rows
    groups                the same, of the totals of groups
    line_order            the order of aligned rows, as an output has it
    difference            how that is told
    unreadable            cells that a rule cannot read
    summary               what was covered
"""
