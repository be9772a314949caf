"""Joins random files of all types: what is kept, what is given, and what the keys are."""

import argparse
import os
import random
import shutil
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

from differential.difference import Difference

from .arrow_types import ARROW_TYPES
from .extension_types import EXTENSION_TYPES
from .library_types import LIBRARY_TYPES
from .nested_types import NESTED_TYPES
from .pairs import Pair, Plan, plans
from .parquet_types import PARQUET_TYPES
from .tally import Tally

ALL = [*ARROW_TYPES, *NESTED_TYPES, *EXTENSION_TYPES, *PARQUET_TYPES, *LIBRARY_TYPES]


LONGEST_FAILURE = 1500


def run_pairs(seed: int, numbers: range, program: Path, folder: Path) -> tuple[Tally, list[str]]:
    tally, failures = Tally(), []
    drawn = islice(enumerate(plans(seed, ALL)), numbers.start, numbers.stop)
    for number, plan in drawn:
        own = folder / f"seed-{seed}-pair-{number}"
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        try:
            tally += run_pair(plan, random.Random(f"{seed}-{number}"), program, own)
        except Exception as error:
            told = (
                str(error)
                if isinstance(error, Difference)
                else "".join(traceback.format_exception(error, limit=-2))
            )
            failures.append(f"pair {number} (--seed {seed} --pair {number}; {own}): {told}")
        else:
            shutil.rmtree(own)
    return tally, failures


def run_pair(plan: Plan, rng: random.Random, program: Path, folder: Path) -> Tally:
    return Pair(plan, rng, program, folder).run()


def arguments() -> argparse.Namespace:
    told = argparse.ArgumentParser(prog="typed_files", description=__doc__)
    told.add_argument("--program", type=Path, required=True)
    told.add_argument("--folder", type=Path, required=True)
    told.add_argument("--files", type=int, default=3000)
    told.add_argument("--seed", type=int, default=1)
    told.add_argument("--pair", type=int)
    told.add_argument("--jobs", type=int, default=os.cpu_count())
    return told.parse_args()


def main() -> int:
    said = arguments()
    pairs = said.files // 2
    numbers = [range(start, min(start + 10, pairs)) for start in range(0, pairs, 10)]
    if said.pair is not None:
        numbers = [range(said.pair, said.pair + 1)]
    tally, failures = Tally(), []
    with ProcessPoolExecutor(said.jobs) as pool:
        ran = [
            pool.submit(run_pairs, said.seed, of, said.program.absolute(), said.folder.absolute())
            for of in numbers
        ]
        for future in ran:
            counted, failed = future.result()
            tally += counted
            failures += failed
            for failure in failed:
                print(failure[:LONGEST_FAILURE], file=sys.stderr, flush=True)
    print("\n".join(tally.show(ALL)))
    for what in tally.missing(ALL):
        print(f"not drawn: {what}")
    print("\n".join(tally.totals()))
    for what, count in sorted(tally.joins.items()):
        print(f"{count:6} joins {what}")
    print(f"{2 * sum(map(len, numbers))} files, {len(failures)} pairs failed (seed {said.seed})")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
