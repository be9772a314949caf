"""Pairs of files: which types are in them, joins of them, and what these come to."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from differential.joins import Ended, Process

from .claims import check_claims
from .column_types import Type
from .comparison import Output, check, compare_column
from .files import ENDINGS, File
from .keys import EQUAL, REFUSED, check_refusal, compare_keys
from .tally import Tally

COLUMNS = 3
# Two formats by three writers.
MOST_WAYS = 6
INSECURE = ["--insecure-plaintext", "--key", "id"]


@dataclass(frozen=True)
class Plan:
    """The types of both files' columns, each beside the file's format and writer, and what is
    written.
    """

    kept: tuple[str, str, list[Type]]
    given: tuple[str, str, list[Type]]
    output: str


class Deck:
    """Types in a random order, each in each format by each of its writers before any comes again,
    but for what does not fit together.
    """

    def __init__(self, rng: random.Random, types: list[Type]) -> None:
        self._rng, self._types = rng, types
        self._cards: list[tuple[str, str, Type]] = []

    def take(self, uses: Iterable[str]) -> tuple[str, str, list[Type]]:
        """Takes the next type, and others for the same file. One of them at most is refused for
        these uses, as an error names one column.
        """
        if len(self._cards) < 2 * COLUMNS:
            self._cards += self._shuffled()
        source, writer, _ = self._cards[0]
        taken: list[Type] = []
        others = []
        for card in self._cards:
            held = [*taken, card[2]]
            refused = [each for each in held if any(each.is_refused(use, source) for use in uses)]
            if card[:2] == (source, writer) and len(held) <= COLUMNS and len(refused) < 2:
                taken = held
            else:
                others.append(card)
        self._cards = others
        return source, writer, taken

    def _shuffled(self) -> list[tuple[str, str, Type]]:
        """All types in all ways, each type in one of them before any is there in a second one."""
        rounds: list[list[tuple[str, str, Type]]] = [[] for _ in range(MOST_WAYS)]
        for each in self._types:
            ways = ways_of(each)
            self._rng.shuffle(ways)
            for number, (source, writer) in enumerate(ways):
                rounds[number].append((source, writer, each))
        for cards in rounds:
            self._rng.shuffle(cards)
        return [card for cards in rounds for card in cards]


def ways_of(each: Type) -> list[tuple[str, str]]:
    """The formats and writers of a type. DuckDB writes no Arrow files."""
    ways = [(source, writer) for source in each.formats for writer in each.written_by]
    return [way for way in ways if way != ("arrow", "duckdb")]


def plans(seed: int, types: list[Type]) -> Iterator[Plan]:
    """The pairs of a seed."""
    rng = random.Random(seed)
    kept, given = Deck(rng, types), Deck(rng, types)
    while True:
        # A type meets another output each time.
        for output in ("parquet", "arrow", "csv"):
            yield Plan(kept.take([output]), given.take(["given", output]), output)


def plan(seed: int, types: list[Type], number: int) -> Plan:
    return next(islice(plans(seed, types), number, None))


class Pair:
    """Two files, and the program that joins them."""

    def __init__(self, plan: Plan, rng: random.Random, program: Path, folder: Path) -> None:
        self.program, self.folder = program, folder
        self.output = folder / f"out{ENDINGS[plan.output]}"
        files = []
        for (source, writer, types), prefix in ((plan.kept, "k"), (plan.given, "g")):
            named = {f"{prefix}{number}": each for number, each in enumerate(types)}
            files.append(File(rng, folder / prefix, named, source, writer))
        self.own, self.other = files
        self.tally = Tally()

    def run(self) -> Tally:
        """Reads keys of all columns, and joins the files: with each column that is to be refused,
        and without them.
        """
        for file in (self.own, self.other):
            for name in file.names:
                outcome = compare_keys(self.program, file, name)
                self.tally.add(file.drawn_type(name), file.source, "key", outcome)
        output = self.output.suffix[1:]
        kept, unkept = divided(self.own, [output])
        given, ungiven = divided(self.other, ["given", output])
        for name in unkept:
            self.refuse([*kept, name], given, self.own, name, "kept")
        for name in ungiven:
            self.refuse(kept, [*given, name], self.other, name, "given")
        self.compare(kept, given)
        return self.tally

    def refuse(self, kept: list[str], given: list[str], file: File, name: str, use: str) -> None:
        """Checks that a join is refused for this column's sake."""
        ended = self.join(kept, given)
        of = file.type_of(name)
        what = f"{name}, {of.name} in {file.path.name} {use} to {self.output.name}"
        check(all(end.code != 0 for end in ended), f"{what} is not refused")
        called = of.name_for(self.output.suffix[1:] if use == "kept" else use)
        check_refusal(" ".join(end.stderr for end in ended), name, called)
        check(not self.output.exists(), f"{what} is refused, and there is an output")
        self.tally.add(file.drawn_type(name), file.source, use, REFUSED)
        self.tally.joins["refused"] += 1

    def compare(self, kept: list[str], given: list[str]) -> None:
        """Joins the files, and compares each row with those that it comes from."""
        ended = self.join(kept, given)
        said = " ".join(end.stderr for end in ended)
        columns = {name: file.type_of(name).name for file, name in self._columns(kept, given)}
        check(all(end.code == 0 for end in ended), f"a join of {columns} is refused: {said}")
        places = {number: row for row, number in enumerate(self.other.ids)}
        rows = [row for row, number in enumerate(self.own.ids) if number in places]
        partners = [places[self.own.ids[row]] for row in rows]
        output = Output(self.output)
        check(output.ids() == [self.own.ids[row] for row in rows], "other rows")
        for name in kept:
            compare_column(self.own, rows, name, output, is_given=False)
            self.tally.add(self.own.drawn_type(name), self.own.source, "kept", EQUAL)
        for name in given:
            compare_column(self.other, partners, name, output, is_given=True)
            self.tally.add(self.other.drawn_type(name), self.other.source, "given", EQUAL)
        if output.format == "parquet":
            check_claims(self.output, self.own.path if self.own.source == "parquet" else None)
        self.tally.joins["equal"] += 1

    def _columns(self, kept: list[str], given: list[str]) -> list[tuple[File, str]]:
        return [(self.own, name) for name in kept] + [(self.other, name) for name in given]

    def join(self, kept: list[str], given: list[str]) -> list[Ended]:
        """Joins the files, the first of which has these columns only."""
        self.own.write(kept)
        own, other = str(self.own.path), str(self.other.path)
        receive = [str(self.program), "receive", *INSECURE, "--input", own]
        send = [str(self.program), "send", *INSECURE, "--input", other]
        if given:
            receive += ["--take", ",".join(given)]
            send += ["--give", ",".join(given)]
        receive += ["--output", str(self.output), "--listen", "127.0.0.1:0"]
        receiver = Process(receive, self.folder / "receiver")
        sender = Process([*send, "--connect", receiver.address()], self.folder / "sender")
        return [sender.end(), receiver.end()]


def divided(file: File, uses: list[str]) -> tuple[list[str], list[str]]:
    """The columns of a file that can be used so, and those that are refused."""
    refused = [
        name
        for name in file.names
        if any(file.type_of(name).is_refused(use, file.source) for use in uses)
    ]
    return [name for name in file.names if name not in refused], refused
