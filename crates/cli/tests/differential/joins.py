"""The question about a pair of tables, and the two processes that answer it."""

import csv
import json
import os
import random
import shlex
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from .amounts import Amount
from .column_types import ColumnType
from .expectation import Expectation
from .formats import COMPRESSIONS, TYPED, Format
from .giving import CARRYING, REPEATED, Giving, draw_giving
from .labels import draw_list
from .meanings import may_differ
from .pairs import Pair, listed
from .tables import Column, Table

# Longer than anything takes on a busy machine.
PATIENCE_SECONDS = 300

# Protocols other than `auto` are tried with few rows, as some of them are slow.
FEW_ROWS = 300

# Those that carry columns are tried with more.
MANY_ROWS = 3000

# The choices of written rows, and those that can get columns of the sender.
ROWS = ("shared", "all", "unshared")
ROWS_WITH_PARTNERS = ROWS[:2]

# The values of `--repeated` for aligned rows.
REPEATED_ALIGNED = ("refuse", "first")

# The protocols that can withhold a result, and take numbers of the sender (docs/functions.md).
WITHHOLDING = ("rr22-circuit", "kk20", "kk20-silent", "kk20-psm", "co18-psm", "psty19")
WITH_SENDERS_NUMBERS = ("rr22-circuit",)


@dataclass
class Named:
    """A column of numbers, and how `--output-kind` calls it."""

    holder: str
    amount: Amount
    name: str
    said: str


@dataclass
class Grouping:
    """The columns by which keys are grouped, each with its holder, and what becomes of groups."""

    by: list[tuple[str, Column]]
    # As psijoin calls them, without their holders.
    names: list[str]
    # The labels of each, if both sides have a list of them.
    lists: list[tuple[str, ...] | None]
    # Groups of fewer keys are withheld.
    least: int | None
    # What both sides say of how they compute, such as in which number of parts.
    options: list[str]

    @property
    def said(self) -> str:
        """Returns the value of `--group-by`."""
        return ",".join(map(listed, self.columns))

    @property
    def columns(self) -> list[str]:
        """Returns the columns with their holders."""
        named = zip(self.by, self.names, strict=True)
        return [f"{holder}.{name}" for (holder, _), name in named]

    def list_options(self, role: str, rng: random.Random, folder: Path) -> list[str]:
        """Returns a party's options for lists, which go to its own files, in its own order."""
        options = []
        for place, (column, labels) in enumerate(zip(self.columns, self.lists, strict=True)):
            if labels is None:
                continue
            path = folder / f"{role}-labels-{place}.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                rows = [[label] for label in rng.sample(labels, len(labels))]
                csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["label"], *rows])
            is_named = len(self.columns) > 1 or rng.random() < 0.5
            options += ["--groups", f"{column}={path}" if is_named else str(path)]
        return options


@dataclass
class Join:
    """The task of both parties, and the receiver's output."""

    kind: str
    columns: list[Named] = field(default_factory=list)
    # Those of them whose means are shown, of groups.
    means: list[Named] = field(default_factory=list)
    number: int | None = None
    grouping: Grouping | None = None
    min_intersection: int | None = None
    protocol: str = "auto"
    receiver_listens: bool = True
    # The format of the file of rows or groups; None for standard output.
    output: Format | None = None
    # The rows that are written, and the sender's columns for them.
    rows: str = "shared"
    giving: Giving | None = None
    # True if an empty text is told from a null in CSV.
    quote_empty: bool = False
    # If both learn: what the sender writes, as of the pair where its table is the receiver's.
    back: "Join | None" = None
    # True if both write a row per shared key in one order; and the sender's `--repeated`
    # then if it gives nothing.
    align: bool = False
    repeated: str = "refuse"
    # True if differences are refused; and if there is a check before.
    strict: bool = False
    check: bool = False

    @property
    def output_kind(self) -> str:
        """As the command line has it."""
        details = [column.said for column in self.columns]
        if self.number is not None:
            details = [str(self.number)]
        if self.grouping:
            means = [column.said for column in self.means]
            lists = [("sum", details), ("mean", means)]
            return ",".join(
                [self.kind, *(f"{name}:{','.join(said)}" for name, said in lists if said)]
            )
        return f"{self.kind}:{','.join(details)}" if details else self.kind

    @property
    def said_repeated(self) -> str:
        """Returns the value of the sender's `--repeated`."""
        return self.giving.said_repeated if self.giving else self.repeated

    def halves(self) -> dict[str, "Join"]:
        """Returns the written rows, by the party that writes them."""
        return {"receiver": self} | ({"sender": self.back} if self.back else {})


def protocols(program: Path) -> dict[str, list[str]]:
    """The names of all protocols, and the kinds of output of each."""
    listed = subprocess.run(
        [program, "protocols", "--json", "--all", "--items", "1000"],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = map(json.loads, listed.stdout.splitlines())
    return {row["name"]: row["outputs"] for row in rows}


def draw_join(
    rng: random.Random,
    pair: Pair,
    kind: str,
    expectation: Expectation,
    known: dict[str, list[str]],
) -> Join:
    """Something to ask of a pair."""
    join = Join(kind, receiver_listens=rng.random() < 0.5)
    if kind == "counts":
        join.grouping = draw_grouping(rng, pair, expectation)
        join.kind = kind if join.grouping else "count"
    if kind in ("sum", "shares") or join.grouping:
        join.columns = draw_columns(rng, pair)
        if kind == "sum" and not join.columns:
            join.kind = "count"
    if join.grouping:
        join.columns = rng.choice((join.columns, join.columns[:1], []))
        join.means = rng.sample(join.columns, rng.randint(0, len(join.columns)))
        join.output = draw_output_of_groups(rng)
    near = max(1, expectation.shared + rng.choice((-1, 0, 0, 1, 5)))
    if join.kind == "threshold":
        join.number = near
    elif join.kind not in ("shares", "counts") and rng.random() < 0.2:
        join.min_intersection = near
    if join.kind == "rows":
        if join.min_intersection is None and rng.random() < 0.5:
            join.back = Join(kind)
            join.align = join.back.align = rng.random() < 0.5
            draw_rows(rng, join.back, pair.turned(), expectation.turned)
        draw_rows(rng, join, pair, expectation)
    if join.giving or join.back:
        join.protocol = rng.choice(CARRYING) if pair.largest <= MANY_ROWS else "auto"
    elif pair.largest <= FEW_ROWS and rng.random() < 0.2:
        join.protocol = rng.choice([name for name in known if suits(name, join, known)])
    join.strict = may_differ(pair) is not None and rng.random() < 0.3
    join.check = rng.random() < 0.1
    return join


def draw_grouping(
    rng: random.Random, pair: Pair, expectation: Expectation
) -> Grouping | None:
    """Some columns of labels of either table; None if there are none."""
    both = {"receiver": pair.receiver, "sender": pair.sender}
    columns = [(holder, column) for holder, side in both.items() for column in side.labels]
    if not columns:
        return None
    by = rng.sample(columns, min(len(columns), rng.choice((1, 2, 2))))
    names = [both[holder].table.names[both[holder].place(column)] for holder, column in by]
    lists = [draw_list(rng, expectation.labels(holder, column)) for holder, column in by]
    options = rng.choice(([], ["--parts", str(rng.choice((2, 3, 5)))]))
    options = options + rng.choice(([], ["--table-memory", "0kB"]))
    return Grouping(by, names, lists, rng.choice((None, 1, 2, 2, 3, 5, 20)), options)


def draw_output_of_groups(rng: random.Random) -> Format | None:
    """A format for a table of groups."""
    name = rng.choice((None, None, "csv", "tsv", *TYPED))
    if name is None:
        return None
    if name in TYPED:
        return Format(name, called=rng.choice(TYPED[name]))
    return Format.usual(name, rng.choice(COMPRESSIONS))


def draw_rows(rng: random.Random, join: Join, pair: Pair, expectation: Expectation) -> None:
    """Draws the rows that are written, the sender's columns for them, and their destination."""
    if join.min_intersection is None and rng.random() < 0.6:
        allowed = REPEATED_ALIGNED if join.align else REPEATED
        join.giving = draw_giving(rng, pair, expectation, allowed)
    elif join.align:
        [join.repeated] = rng.choices(REPEATED_ALIGNED, (1, 5))
    if not join.align:
        join.rows = rng.choice(ROWS_WITH_PARTNERS if join.giving else ROWS)
    join.output = draw_output(rng, pair.receiver.table, join)
    is_csv = join.output is None or join.output.name == "csv"
    if pair.receiver.table.format.name in TYPED and is_csv:
        join.quote_empty = rng.random() < 0.5


def suits(protocol: str, join: Join, known: dict[str, list[str]]) -> bool:
    """Returns whether a protocol can answer."""
    if join.min_intersection is not None and protocol not in WITHHOLDING:
        return False
    by = join.grouping.by if join.grouping else []
    holders = {column.holder for column in join.columns} | {holder for holder, _ in by}
    if "sender" in holders or (join.grouping and join.grouping.options):
        return protocol in WITH_SENDERS_NUMBERS
    return join.kind in known[protocol]


def draw_columns(rng: random.Random, pair: Pair) -> list[Named]:
    """Some of the columns of numbers of either table."""
    both = {"receiver": pair.receiver, "sender": pair.sender}
    names = [name for side in pair.sides for name in side.table.names]
    columns = []
    for holder, side in both.items():
        for amount in side.amounts:
            name = side.table.names[side.place(amount.column)]
            is_clear = names.count(name) == 1 and rng.random() < 0.5
            columns.append(Named(holder, amount, name, name if is_clear else f"{holder}.{name}"))
    return rng.sample(columns, rng.randint(min(1, len(columns)), len(columns)))


def draw_output(rng: random.Random, table: Table, join: Join) -> Format | None:
    """A format that can hold the table's columns."""
    allowed = list(TYPED)
    if table.format.dialect or all(is_shown(column.type) for column in table.columns):
        allowed += ["csv", "tsv"]
        # Lines have no room for what is added.
        is_wider = join.giving or join.rows == "all"
        allowed += ["txt"] * (1 if is_wider else 4) if len(table.columns) == 1 else []
        if rng.random() < 0.15:
            return None
    name = rng.choice(allowed)
    if name in TYPED:
        return Format(name, called=rng.choice(TYPED[name]))
    return written_as(table, name, rng.choice(COMPRESSIONS))


def is_shown(column_type: ColumnType) -> bool:
    """Returns whether values of the type can be in a text."""
    return column_type.shown is not None


def written_as(table: Table, name: str, compression: str) -> Format:
    """The format of such an output: of a text in its own format, the dialect stays."""
    if name == table.format.name:
        return Format(name, compression, table.format.dialect)
    return table.format.written_as_usual(name, compression)


@dataclass
class Ended:
    """The remains of a process."""

    code: int | None
    stdout: bytes
    stderr: str


@dataclass
class Run:
    """The ends of both processes of a join, the files they were to write, and their reports."""

    ended: dict[str, Ended]
    outputs: dict[str, Path]
    # The file of each party's rows or groups, if it writes any, and its report.
    rows: dict[str, Path]
    reports: dict[str, Path]
    # The ends of `psijoin check`, before.
    checked: dict[str, Ended] | None


def run(program: Path, pair: Pair, join: Join, rng: random.Random, folder: Path) -> Run:
    """Joins the tables of a pair in two processes, whose files go to the folder."""
    outputs = output_paths(join, folder)
    reports = {role: folder / f"{role}-report.json" for role in ("receiver", "sender")}
    commands = {
        role: [str(program), *command(role, pair, join, rng, outputs.get(role))]
        + (join.grouping.list_options(role, rng, folder) if join.grouping else [])
        + ["--report", str(report)]
        for role, report in reports.items()
    }
    checked = None
    if join.check:
        checking = {role: [words[0], "check", *words[1:]] for role, words in commands.items()}
        checked = meet(checking, join, folder / "check")
    ended = meet(commands, join, folder)
    rows = {role: outputs.get(role, folder / f"{role}.stdout") for role in join.halves()}
    return Run(ended, outputs, rows, reports, checked)


def meet(commands: dict[str, list[str]], join: Join, folder: Path) -> dict[str, Ended]:
    """Runs both processes. Their command lines go to the folder first, in `commands`."""
    folder.mkdir(exist_ok=True)
    listening, connecting = commands if join.receiver_listens else reversed(commands)
    listens = [*commands[listening], "--listen", "127.0.0.1:0"]
    lines = (shlex.join(arguments) for arguments in (listens, commands[connecting]))
    (folder / "commands").write_text("\n".join(lines) + "\n")

    listener = Process(listens, folder / listening)
    connects = [*commands[connecting], "--connect", listener.address()]
    connector = Process(connects, folder / connecting)
    return {connecting: connector.end(), listening: listener.end()}


def output_paths(join: Join, folder: Path) -> dict[str, Path]:
    """The parties' files for `--output`."""
    if join.kind == "shares":
        return {role: folder / f"{role}.shares" for role in ("receiver", "sender")}
    return {
        role: folder / f"{role}-output{half.output.ending}"
        for role, half in join.halves().items()
        if half.output
    }


def command(
    role: str, pair: Pair, join: Join, rng: random.Random, output: Path | None
) -> list[str]:
    """A party's arguments, but for where the parties meet."""
    verb, side = ("receive", pair.receiver) if role == "receiver" else ("send", pair.sender)
    arguments = [verb, "--input", *side.table.inputs(rng)]
    arguments += side.table.format.options() + side.key_options(rng)
    arguments += ["--output-kind", join.output_kind, "--protocol", join.protocol]
    arguments += ["--insecure-plaintext", "--threads", "1"]
    if join.min_intersection is not None:
        arguments += ["--min-intersection", str(join.min_intersection)]
    if join.strict:
        arguments.append("--strict")
    arguments += ["--learn", "both"] if join.back else []
    own, others = (join, join.back) if role == "receiver" else (join.back, join)
    arguments += writing_options(own) if own else []
    if others:
        arguments += others.giving.options() if others.giving else []
        # To refuse is the default.
        how = others.said_repeated
        arguments += [] if how == "refuse" else ["--repeated", how]
    if join.grouping:
        arguments += ["--group-by", join.grouping.said, *join.grouping.options]
        least = join.grouping.least
        arguments += [] if least is None else ["--min-group", str(least)]
    if role == "sender" and join.kind in ("sum", "counts"):
        arguments += ["--allow-sums-that-reveal-keys"]
    return [*arguments, "--output", str(output)] if output else arguments


def writing_options(half: Join) -> list[str]:
    """Returns a party's options for the rows that it writes."""
    options = [] if half.rows == "shared" else ["--rows", half.rows]
    options += ["--take", half.giving.said_taken] if half.giving else []
    options += ["--quote-empty"] if half.quote_empty else []
    return [*options, "--align"] if half.align else options


class Process:
    """A running process, whose streams go to files."""

    def __init__(self, command: list[str], path: Path) -> None:
        self._paths = [path.with_suffix(ending) for ending in (".stdout", ".stderr")]
        stdout, stderr = (path.open("wb") for path in self._paths)
        environment = {name: value for name, value in os.environ.items() if name != "PSIJOIN_LOG"}
        with stdout, stderr:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=environment,
            )

    def address(self) -> str:
        """The address that it listens on."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            ended = self._process.poll() is not None
            _, found, rest = self._paths[1].read_text().partition("listening on ")
            if found and ";" in rest:
                return rest.partition(";")[0]
            if ended:
                break
            time.sleep(0.002)
        # The other process says what became of it.
        return "127.0.0.1:9"

    def end(self) -> Ended:
        """Waits for it to end."""
        try:
            code = self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            code = None
        stdout, stderr = (path.read_bytes() for path in self._paths)
        return Ended(code, stdout, stderr.decode(errors="replace"))
