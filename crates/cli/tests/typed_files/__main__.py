"""Joins random files of all types: what is kept, what is given, and what the keys are."""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from differential.difference import Difference
from differential.expectation import connect
from differential.joins import Process

from .column_types import ALL, Type
from .comparison import logical_types, meaning, plain

ROWS = 40
KEYS = 60
COLUMNS = 3


class File:
    """A file, and what is in it."""

    def __init__(self, rng: random.Random, folder: Path, name: str, prefix: str) -> None:
        self.is_parquet = rng.random() < 0.6
        types = [each for each in ALL if each.in_parquet or not self.is_parquet]
        self.types = {f"{prefix}{n}": rng.choice(types) for n in range(COLUMNS)}
        columns = {name: each.draw(rng, ROWS) for name, each in self.types.items()}
        self.table = pa.table({"id": rng.sample(range(KEYS), ROWS), **columns})
        self.has_int96 = self.is_parquet and rng.random() < 0.2
        self.path = folder / (name + (".parquet" if self.is_parquet else ".arrow"))
        write(self.table, self.path, self.has_int96, rng)
        # As pyarrow reads it, which is what others see.
        self.read = read(self.path)


def write(table: pa.Table, path: Path, has_int96: bool, rng: random.Random) -> None:
    """Writes a file in one of the ways that there are."""
    if path.suffix == ".parquet":
        pq.write_table(
            table,
            path,
            use_deprecated_int96_timestamps=has_int96,
            store_schema=not has_int96 and rng.random() < 0.7,
            use_dictionary=rng.random() < 0.5,
            row_group_size=rng.choice([7, ROWS]),
            data_page_version=rng.choice(["1.0", "2.0"]),
        )
        return
    new = rng.choice([pa.ipc.new_file, pa.ipc.new_stream])
    with new(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=rng.choice([7, ROWS]))


def read(path: Path) -> pa.Table:
    """A file as pyarrow reads it."""
    if path.suffix == ".parquet":
        return pq.read_table(path, coerce_int96_timestamp_unit="us")
    try:
        return pa.ipc.open_file(str(path)).read_all()
    except pa.ArrowInvalid:
        with pa.OSFile(str(path)) as stream:
            return pa.ipc.open_stream(stream).read_all()


def check(condition: bool, what: str) -> None:
    if not condition:
        raise Difference(what)


def run_pair(seed: int, number: int, program: Path, folder: Path) -> Counter[str]:
    """Joins two files, with a column of the sender beside those of the receiver; and reads keys of
    both.
    """
    rng = random.Random(f"{seed}-{number}")
    own, other = File(rng, folder, "own", "k"), File(rng, folder, "other", "g")
    given = rng.choice(list(other.types))
    output = folder / rng.choice(["out.parquet", "out.arrow"])
    counts: Counter[str] = Counter()
    plaintext = ["--insecure-plaintext", "--key", "id"]
    receive = [str(program), "receive", *plaintext, "--input", str(own.path), "--output", str(output)]
    send = [str(program), "send", *plaintext, "--input", str(other.path), "--give", given]
    receiver = Process([*receive, "--take", given, "--listen", "127.0.0.1:0"], folder / "receiver")
    sender = Process([*send, "--connect", receiver.address()], folder / "sender")
    ended = [sender.end(), receiver.end()]
    if all(end.code == 0 for end in ended):
        counts["joins"] += 1
        compare(own, other, given, output)
    else:
        said = " ".join(end.stderr for end in ended)
        named = [name for name in [*own.types, given] if f"`{name}`" in said]
        check(bool(named) and "panicked" not in said, f"neither joined nor refused by name: {said}")
        counts["refused joins"] += 1
        reasons = ["cannot be shared with the partner", "would be lost", "Parquet does not have", "cannot go to Arrow"]
        counts[f"refused: {next((reason for reason in reasons if reason in said), said)}"] += 1
    for file in (own, other):
        for name, each in file.types.items():
            counts[compare_keys(program, file, name, each)] += 1
    return counts


def compare(own: File, other: File, given: str, output: Path) -> None:
    """Compares the rows with those that they come from."""
    out = read(output)
    ids, theirs = own.read["id"].to_pylist(), other.read["id"].to_pylist()
    shared = set(theirs)
    kept = [row for row, number in enumerate(ids) if number in shared]
    partners = [theirs.index(ids[row]) for row in kept]
    is_parquet = output.suffix == ".parquet"
    for file, rows, names in ((own, kept, list(own.types)), (other, partners, [given])):
        for name in names:
            what = f"{name}, {file.types[name].name} in {file.path.suffix} to {output.suffix}"
            # pyarrow reads timestamps of 96 bits in one unit, of which some have more, and others
            # are beyond it.
            is_int96 = file.has_int96 and file.types[name].name.startswith("timestamp")
            values = plain((file.table if is_int96 else file.read)[name].combine_chunks())
            before = [values[row] for row in rows]
            after = plain(out[name].combine_chunks())
            check(before == after, f"{what}: {before} became {after}")
            if file is own and is_parquet and file.is_parquet:
                before = logical_types(pq.ParquetFile(file.path), name)
                after = logical_types(pq.ParquetFile(output), name)
                check(not before or before == after, f"{what}: {before} became {after}")
            else:
                before = meaning(file.read.schema.field(name), is_parquet)
                after = meaning(out.schema.field(name), is_parquet)
                is_text = file is other and "string" in before[0] and "string" in after[0]
                is_binary = file is other and "binary" in before[0] and "binary" in after[0]
                is_unit = is_int96 and after[0].startswith("timestamp")
                same = before == after or is_unit
                same = same or (before[1] == after[1] and (is_text or is_binary))
                check(same, f"{what}: {before} became {after}")


def compare_keys(program: Path, file: File, name: str, each: Type) -> str:
    """Compares the keys that are in a column with what DuckDB makes of it. Returns what was
    done.
    """
    command = [str(program), "keys", str(file.path), "--key", name, "--first", "1000", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True)
    check("panicked" not in ended.stderr, ended.stderr)
    if ended.returncode != 0:
        check(f"`{name}`" in ended.stderr, f"keys of {each.name} are refused without a name: {ended.stderr}")
        check(each.key is None, f"keys of {each.name} are refused: {ended.stderr}")
        return "refused keys"
    check(not each.is_unknown or has_no_mark(file, name), f"{each.name} as a key")
    # DuckDB reads timestamps of 96 bits as microseconds.
    is_cut = file.has_int96 and each.name.startswith("timestamp[ns")
    if each.key is None or not file.is_parquet or is_cut:
        return "keys that DuckDB does not read"
    spelled = each.unmarked_key if each.unmarked_key and has_no_mark(file, name) else each.key
    found = {key[0] for key in json.loads(ended.stdout)["first_keys"]}
    with connect() as connection:
        rows = connection.execute(
            f"SELECT DISTINCT {spelled.format(name)} FROM read_parquet('{file.path}') WHERE {name} IS NOT NULL"
        ).fetchall()
    expected = {row[0] for row in rows if row[0] is not None}
    check(found == expected, f"keys of {each.name}: {found - expected} for {expected - found}")
    return "equal keys"


def has_no_mark(file: File, name: str) -> bool:
    """Whether a file does not say that a column is of an extension type, as one without the schema
    of Arrow.
    """
    return meaning(file.read.schema.field(name), file.is_parquet)[1] is None


def run_pairs(seed: int, numbers: range, program: Path, folder: Path) -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    failures = []
    for number in numbers:
        own = folder / f"seed-{seed}-pair-{number}"
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        try:
            counts += run_pair(seed, number, program, own)
        except Exception as error:
            told = str(error) if isinstance(error, Difference) else traceback.format_exc()
            failures.append(f"pair {number} (--seed {seed} --pair {number}; {own}): {told}")
        else:
            shutil.rmtree(own)
    return counts, failures


def main() -> int:
    told = argparse.ArgumentParser(prog="typed_files", description=__doc__)
    told.add_argument("--program", type=Path, required=True)
    told.add_argument("--folder", type=Path, required=True)
    told.add_argument("--files", type=int, default=3000)
    told.add_argument("--seed", type=int, default=1)
    told.add_argument("--pair", type=int)
    told.add_argument("--jobs", type=int, default=os.cpu_count())
    said = told.parse_args()
    pairs = said.files // 2
    numbers = [range(start, min(start + 10, pairs)) for start in range(0, pairs, 10)]
    if said.pair is not None:
        numbers = [range(said.pair, said.pair + 1)]
    counts, failures = Counter(), []
    with ProcessPoolExecutor(said.jobs) as pool:
        ran = [
            pool.submit(run_pairs, said.seed, of, said.program.absolute(), said.folder.absolute())
            for of in numbers
        ]
        for future in ran:
            counted, failed = future.result()
            counts += counted
            failures += failed
            for failure in failed:
                print(failure[:1500], file=sys.stderr, flush=True)
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}")
    print(f"{2 * sum(map(len, numbers))} files, {len(failures)} pairs failed (seed {said.seed})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
