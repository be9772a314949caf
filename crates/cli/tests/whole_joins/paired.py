"""Measures commits of psijoin in turns, and prints a table of their figures beside each other."""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

from .__main__ import check_same_rows, duckdb_join, make_tables, positive
from .cost import Cost
from .parties import Parties

PAGE = Path("docs/by-commit.md")
# The programs and their crates. Before the laboratory had one, it was a part of `psijoin`.
PROGRAMS = {"psijoin": "cli", "psijoin-lab": "lab-cli"}

# Name, items of each party, and what the receiver learns.
PROTOCOLS = (
    ("rr22", "2^20", "rows"),
    ("rr22", "2^24", "rows"),
    ("rr22-malicious", "2^20", "rows"),
    ("rr22-circuit", "2^20", "count"),
    ("kkrt", "2^20", "rows"),
)
FORMATS = ("csv", "parquet")
ROWS = 1_000_000


@dataclass(frozen=True)
class State:
    """A state of psijoin, and the folder of its release binaries."""

    name: str
    binaries: Path


@dataclass
class Figures:
    """What a run took, of both parties together; bytes in millions."""

    processors: float
    seconds: float
    memory: float
    traffic: float


# The figures, as a table has them: what to call each, and its digits behind the point.
SHOWN = {
    "processors": ("processors, s", 2),
    "seconds": ("time, s", 2),
    "memory": ("memory, MB", 0),
    "traffic": ("bytes, MB", 2),
}

Measure = Callable[[State], Figures]
# Of each measure, the runs of each state, in the order of turns.
Results = dict[str, dict[State, list[Figures]]]


def bench(protocol: str, items: str, output_kind: str, warm_up: int, state: State) -> Figures:
    """Runs a protocol in a process of its own."""
    options = ["--protocol", protocol, "--items", items, "--output-kind", output_kind]
    runs = ["--threads", "1", "--warm-up", str(warm_up), "--runs", "1", "--json"]
    told = json.loads(output_of(state.binaries / "psijoin-lab", "bench", *options, *runs))
    return Figures(
        processors=told["processor_seconds"],
        seconds=told["minimum_seconds"],
        memory=told["peak_memory_bytes"] / 1e6,
        traffic=(told["sender_bytes"] + told["receiver_bytes"]) / 1e6,
    )


class Join:
    """A join of two files, by two processes of the program."""

    def __init__(self, folder: Path, ending: str) -> None:
        self._folder = folder / ending
        self._folder.mkdir()
        self._tables = make_tables(self._folder, ROWS, ending)
        self._clear, self._private = (
            self._folder / f"{name}.{ending}" for name in ("clear", "private")
        )
        duckdb_join(*self._tables, self._clear)
        self._parties: dict[State, Parties] = {}

    def __call__(self, state: State) -> Figures:
        """Joins, and checks the result."""
        if state not in self._parties:
            folder = self._folder / state.name
            self._parties[state] = Parties(state.binaries / "psijoin", folder, None)
        parties = self._parties[state]
        self._private.unlink(missing_ok=True)
        cost = Cost.of(lambda: parties.join(*self._tables, self._private))
        check_same_rows(self._private, self._clear)
        return Figures(
            processors=cost.processors,
            seconds=cost.seconds,
            memory=sum(parties.peak_bytes()) / 1e6,
            traffic=parties.moved_bytes() / 1e6,
        )


def measures(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Measure]]:
    """What is measured, by name."""
    for protocol, items, output_kind in PROTOCOLS:
        kind = "" if output_kind == "rows" else f", {output_kind}"
        warm_up = 0 if arguments.cold else 1
        yield f"`{protocol}`{kind}, {items}", partial(bench, protocol, items, output_kind, warm_up)
    for ending in FORMATS:
        # Tables are made only if they are asked for.
        name = f"whole join, {ending}, {ROWS:,} rows"
        if arguments.only in name:
            yield name, Join(folder, ending)


def measure(arguments: argparse.Namespace, states: list[State]) -> Results:
    """Runs all measures, all states in turns."""
    results: Results = {}
    with tempfile.TemporaryDirectory(dir=arguments.folder.absolute()) as folder:
        for name, figures in measures(arguments, Path(folder)):
            if arguments.only not in name:
                continue
            of: dict[State, list[Figures]] = {state: [] for state in states}
            for turn in range(arguments.runs):
                # Whoever goes first meets the caches of the last one's run, so they change places.
                first = turn % len(states)
                for state in states[first:] + states[:first]:
                    of[state].append(figures(state))
                    print(f"{name}, {state.name}: {of[state][-1]}", file=sys.stderr, flush=True)
            results[name] = of
    return results


def table(states: list[State], results: Results) -> Iterator[str]:
    """The lines of a table, whose ratios are those to the first state."""
    first, *others = states
    names = [first.name, *(cell for state in others for cell in (state.name, "ratios"))]
    yield f"| | | {' | '.join(names)} |"
    yield "|---" * (len(names) + 2) + "|"
    for name, of in results.items():
        for quantity, (shown, digits) in SHOWN.items():
            values = {
                state: [getattr(figures, quantity) for figures in runs]
                for state, runs in of.items()
            }
            cells = [summary(values[first], digits)]
            for state in others:
                cells += summary(values[state], digits), ratios(values[first], values[state])
            yield f"| {name} | {shown} | {' | '.join(cells)} |"


def summary(values: list[float], digits: int) -> str:
    """The minimum and the median."""
    return f"{min(values):.{digits}f}, {median(values):.{digits}f}"


def ratios(before: list[float], after: list[float]) -> str:
    """The ratio of the minima, and the median of those of runs of the same turn."""
    of_pairs = median(later / earlier for earlier, later in zip(before, after, strict=True))
    return f"{min(after) / min(before):.2f}, {of_pairs:.2f}"


def section(arguments: argparse.Namespace, states: list[State], results: Results, load: str) -> str:
    """A section of the page: when, where and how it was measured, and the table."""
    names = [state.name for state in states]
    command = [".ci/paired", *names, "--runs", str(arguments.runs)]
    command += ["--cold"] if arguments.cold else []
    command += ["--only", arguments.only] if arguments.only else []
    how = (
        f"{processor()}; load average {load} before the first run. `{shlex.join(command)}`: "
        f"protocols {'cold' if arguments.cold else 'warm'}, whole joins cold."
    )
    title = f"## {datetime.now(UTC):%Y-%m-%d}: {', '.join(names)}"
    return "\n".join((title, "", wrapped(how), "", *table(states, results), ""))


def wrapped(text: str) -> str:
    """Prose in lines of at most 100 characters."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def processor() -> str:
    """The processor's name, and how many of it this process may use."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    name = next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return f"{name}, {len(os.sched_getaffinity(0))} hardware threads"


def known(text: str, folder: Path) -> State:
    """A commit, which is built unless it was before, or NAME=FOLDER of binaries."""
    name, given, binaries = text.partition("=")
    if given:
        return State(name, Path(binaries).absolute())
    commit = output_of("git", "rev-parse", "--short=8", "--verify", f"{text}^{{commit}}")
    return State(commit, built(commit, folder.absolute()))


def built(commit: str, folder: Path) -> Path:
    """Builds a commit's release binaries, unless they are there, and returns their folder."""
    binaries = folder / "binaries" / commit
    if all((binaries / name).exists() for name in PROGRAMS):
        return binaries
    # One folder for all commits, so that what they depend on is built once.
    tree, target = folder / "tree", folder / "build"
    output_of("git", "worktree", "add", "--force", "--detach", tree, commit)
    command = ["cargo", "build", "--release", "--locked", "--target-dir", str(target)]
    try:
        made = [name for name, crate in PROGRAMS.items() if (tree / "crates" / crate).exists()]
        command += [word for name in made for word in ("-p", f"psijoin-{PROGRAMS[name]}")]
        subprocess.run(command, cwd=tree, check=True)
    finally:
        output_of("git", "worktree", "remove", "--force", tree)
    binaries.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        shutil.copy2(target / "release" / (name if name in made else "psijoin"), binaries / name)
    return binaries


def output_of(*command: str | Path) -> str:
    """Runs a command to its end, and returns what it prints."""
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return ended.stdout.strip()


def main() -> None:
    """Measures, and prints the section or adds it to the page."""
    arguments = parser().parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    states = [known(text, arguments.folder) for text in arguments.state]
    load = f"{os.getloadavg()[0]:.1f}"
    text = section(arguments, states, measure(arguments, states), load)
    print(text)
    if arguments.add:
        with PAGE.open("a", encoding="utf-8") as page:
            page.write(f"\n{text}")


def parser() -> argparse.ArgumentParser:
    """Returns the arguments of the command line."""
    told = argparse.ArgumentParser(prog="paired", description=__doc__)
    told.add_argument(
        "state",
        nargs="+",
        metavar="COMMIT|NAME=FOLDER",
        help="a commit, or the folder of its release binaries; ratios are those to the first",
    )
    told.add_argument("--folder", type=Path, required=True, help="for binaries and tables")
    told.add_argument("--runs", type=positive, default=5, help="of each state (default: 5)")
    told.add_argument("--only", default="", metavar="TEXT", help="measures whose name has this")
    told.add_argument("--cold", action="store_true", help="protocols without a run before")
    told.add_argument("--add", action="store_true", help=f"add the table to {PAGE}")
    return told


if __name__ == "__main__":
    main()
