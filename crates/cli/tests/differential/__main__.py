"""Joins random pairs of tables, and holds the results against DuckDB's."""

import argparse
import os
import random
import shutil
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

from .comparison import compare, compare_doubted, is_doubted
from .difference import Difference
from .expectation import Expectation, connect
from .joins import draw_join, protocols, run
from .pairs import draw_pair
from .summary import OUTPUT_KINDS, Summary
from .unreadable import compare_unreadable, spoil

# The number of pairs that a process gets at a time.
BATCH = 20

# Of how many pairs a cell is spoiled in the end.
UNREADABLE_RATE = 0.15


@dataclass(frozen=True)
class Setting:
    """The settings that all pairs of a run share."""

    seed: int
    program: Path
    folder: Path
    # The outputs to ask of each pair; none for rows and another one.
    kinds: tuple[str, ...]
    protocols: dict[str, list[str]]


@dataclass
class Batch:
    """The result of some pairs."""

    summary: Summary = field(default_factory=Summary)
    failures: list[str] = field(default_factory=list)


def run_batch(setting: Setting, numbers: range) -> Batch:
    """Joins the pairs of these numbers. The files of one that fails are kept."""
    batch = Batch()
    for number in numbers:
        folder = setting.folder / f"seed-{setting.seed}-pair-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            run_pair(setting, number, folder, batch.summary)
        except Exception as error:
            told = str(error) if isinstance(error, Difference) else traceback.format_exc()
            again = f"--seed {setting.seed} --pair {number}"
            failure = f"pair {number} ({again}; its files are in {folder}):\n{told}"
            (folder / "failure").write_text(failure)
            batch.failures.append(failure)
        else:
            shutil.rmtree(folder)
    return batch


def run_pair(setting: Setting, number: int, folder: Path, summary: Summary) -> None:
    """Joins one pair twice, for its rows and for something else; now and then again, spoiled.

    If certain outputs are asked for, it is joined for these.
    """
    rng = random.Random(f"{setting.seed}-{number}")
    pair = draw_pair(rng, folder)
    while "counts" in setting.kinds and not any(side.labels for side in pair.sides):
        shutil.rmtree(folder)
        folder.mkdir()
        pair = draw_pair(rng, folder)
    with connect() as connection:
        expectation = Expectation(connection, pair)
        summary.add_pair(pair, expectation)
        for kind in setting.kinds or ("rows", rng.choice(OUTPUT_KINDS[1:])):
            join = draw_join(rng, pair, kind, expectation, setting.protocols)
            join_folder = folder / kind
            join_folder.mkdir()
            ended = run(setting.program, pair, join, rng, join_folder)
            if is_doubted(ended):
                compare_doubted(pair, join, expectation, ended)
                summary.doubted += 1
                join = replace(join, strict=False)
                ended = run(setting.program, pair, join, rng, join_folder)
            ending = compare(setting.program, pair, join, expectation, ended)
            summary.add_join(pair, join, expectation, ending)
        if not setting.kinds and rng.random() < UNREADABLE_RATE:
            spoiled = spoil(rng, pair, folder / "unreadable")
            if spoiled:
                compare_unreadable(setting.program, spoiled, rng)
                summary.add_unreadable(expectation)


def main() -> int:
    """Runs all pairs, and returns the exit code."""
    arguments = parser().parse_args()
    setting = Setting(
        seed=arguments.seed,
        program=arguments.program.absolute(),
        folder=arguments.folder.absolute(),
        kinds=tuple(arguments.kind),
        protocols=protocols(arguments.program.absolute()),
    )
    started, summary, failures = time.monotonic(), Summary(), []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        futures = [pool.submit(run_batch, setting, numbers) for numbers in batches(arguments)]
        for future in as_completed(futures):
            batch = future.result()
            summary += batch.summary
            for failure in batch.failures:
                print(failure, file=sys.stderr, flush=True)
            failures += batch.failures
            seconds = time.monotonic() - started
            progress = f"{summary.pairs} pairs, {len(failures)} failed, {seconds:.0f} s"
            print(progress, file=sys.stderr, flush=True)

    print(summary)
    is_whole = arguments.pair is None and not arguments.kind
    gaps = summary.gaps(setting.protocols) if is_whole else []
    for gap in gaps:
        print(f"too little: {gap}")
    print(f"{len(failures)} failed (seed {setting.seed})")
    return 1 if failures or gaps else 0


def batches(arguments: argparse.Namespace) -> list[range]:
    """The numbers of the pairs to run."""
    if arguments.pair is not None:
        return [range(arguments.pair, arguments.pair + 1)]
    starts = range(0, arguments.pairs, BATCH)
    return [range(start, min(start + BATCH, arguments.pairs)) for start in starts]


def parser() -> argparse.ArgumentParser:
    """Returns the arguments of the command line."""
    told = argparse.ArgumentParser(prog="differential", description=__doc__)
    told.add_argument("--program", type=Path, required=True, help="psijoin's release binary")
    told.add_argument("--folder", type=Path, required=True, help="for the files of pairs")
    told.add_argument("--pairs", type=int, default=5000, help="how many to run (default: 5000)")
    told.add_argument("--seed", type=int, default=1, help="of all that is random (default: 1)")
    told.add_argument("--pair", type=int, help="run only the pair of this number, again")
    told.add_argument(
        "--kind", action="append", default=[], choices=OUTPUT_KINDS, help="ask for this output only"
    )
    told.add_argument("--jobs", type=int, default=os.cpu_count(), help="pairs at a time")
    return told


if __name__ == "__main__":
    sys.exit(main())
