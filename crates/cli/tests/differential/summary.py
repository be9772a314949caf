"""The cases that a run covered, so that one sees that nothing is trivially empty."""

from collections import Counter
from collections.abc import Iterable

from . import column_types as types
from .endings import HALF_FLOAT, output_format
from .expectation import Expectation
from .formats import COMPRESSIONS, TYPED, USUAL
from .giving import CARRYING, PREFIX, REPEATED, Giving
from .joined_rows import SHARED_PREFIX, added_names, wanted_names
from .joins import REPEATED_ALIGNED, ROWS, ROWS_WITH_PARTNERS, Grouping, Join
from .kinds import KINDS
from .pairs import ENCODINGS, Pair
from .parts import NAMINGS
from .tables import Table

# From this many pairs on everything must have occurred.
ALL_OCCUR_PAIRS = 2000

FORMATS = (*USUAL, *TYPED)
ENDINGS = ("done", "withheld", "overflowing", "unwritable", "differing", "unreadable")
# And those of groups.
GROUPS_ENDINGS = ("done", "overflowing", "unlike labels", "too many groups", "unwritable")
# And those of joins with columns of the sender.
GIVING_ENDINGS = ("unfit", "ungivable", "repeated", "not offered", "too long")
# Topics of joins from which both learn, whose cases are formats of tables and of outputs.
OF_BOTH_BY_FORMAT = ("rows of the sender", "aligned rows", "columns of the receiver")
OUTPUT_KINDS = ("rows", "count", "threshold", "sum", "shares", "counts")

# A case that occurred: a topic and one of its cases, such as ("kind of key", "uuid").
Case = tuple[str, str]


def cases_of_pair(pair: Pair) -> set[Case]:
    """Returns the cases in a pair of tables."""
    cases = {("columns of the key", str(len(pair.key)))}
    for one in pair.key:
        cases.add(("kind of key", one.kind.name))
        cases |= {("type of a key", held.name) for held in one.types}
        for rules in one.rules:
            cases |= {("rule", rule) for rule in rules.split("+")}
    for side in pair.sides:
        width = len(side.table.columns)
        if any(place >= width - side.table.told for place in side.key):
            cases.add(("told by folders", "a key"))
        cases |= cases_of_table(side.table)
    return cases


def cases_of_table(table: Table) -> set[Case]:
    """Returns the cases in a table."""
    choice, dialect = table.format, table.format.dialect
    cases = {("input", choice.name), ("named by", arrow(table.naming, choice.name))}
    if choice.is_told:
        cases.add(("with --input-format", choice.name))
    if table.told:
        cases.add(("told by folders", choice.name))
    if dialect:
        cases.add(("compression", choice.compression))
        cases.add(("encoding", encoding(dialect.encoding, dialect.byte_order_mark)))
        if dialect.escapes:
            cases.add(("with --escapes", choice.name))
    return cases


def encoding(codec: str, is_marked: bool) -> str:
    """An encoding, with a byte order mark or without."""
    return f"{codec} with a mark" if is_marked else codec


def cases_of_join(pair: Pair, join: Join, ending: str) -> set[Case]:
    """Returns the cases in a join of a pair that ended like this."""
    cases = {
        ("output", join.kind),
        ("ending", ending),
        ("protocol", join.protocol),
        ("listens", "receiver" if join.receiver_listens else "sender"),
    }
    if join.min_intersection is not None:
        cases.add(("with a minimum", join.kind))
    for option in ("quote_empty", "strict", "check"):
        if getattr(join, option):
            cases.add((f"with --{option.replace('_', '-')}", ending))
    if join.output and join.kind == "rows":
        cases.add(("rows", arrow(pair.receiver.table.format.name, join.output.name)))
    if join.kind == "rows":
        cases |= cases_of_rows(pair, join, ending)
    if join.back:
        cases |= cases_of_both(pair, join, join.back, ending)
    cases |= {(f"{join.kind} of a column of", column.holder) for column in join.columns}
    if join.grouping:
        cases |= cases_of_groups(join, join.grouping, ending)
    return cases


def cases_of_groups(join: Join, grouping: Grouping, ending: str) -> set[Case]:
    """Returns the cases in counts of groups."""
    cases = {("groups", ending)}
    if ending != "done":
        return cases
    target = join.output.name if join.output else "standard output"
    cases |= {("groups by", ", ".join(holder for holder, _ in grouping.by)), ("groups to", target)}
    cases |= {("type of a label", column.type.name) for _, column in grouping.by}
    cases |= {("groups with", option) for option in grouping.options if option.startswith("--")}
    cases.add(("groups with", "a least size" if grouping.least else "all sizes"))
    cases |= {("groups with", "means")} if join.means else set()
    cases |= {("groups with", "told labels" if one is None else "a list") for one in grouping.lists}
    return cases


def cases_of_rows(pair: Pair, join: Join, ending: str) -> set[Case]:
    """Returns the cases in rows, and in the sender's columns for them."""
    with_columns = " with columns" if join.giving else ""
    cases = {("which rows", join.rows + with_columns)}
    if ending != "done":
        return cases
    names = zip(added_names(pair, join), wanted_names(pair, join), strict=True)
    cases |= {("before an added name", name.removesuffix(wanted)) for name, wanted in names}
    if join.giving:
        cases |= cases_of_giving(pair, join, join.giving)
    return cases


def cases_of_giving(pair: Pair, join: Join, giving: Giving) -> set[Case]:
    """Returns the cases in the sender's given columns."""
    table = pair.sender.table
    columns = [table.columns[place] for place in giving.taken]
    target = output_format(pair, join)
    cases = {
        ("columns go", arrow(table.format.name, target.name)),
        ("columns beside", pair.receiver.table.format.name),
        ("columns by", join.protocol),
        ("repeated keys of the sender", giving.repeated),
        ("taken", "all" if giving.said_taken == "all" else "by name"),
        ("bytes of a row", "said" if giving.row_bytes else "measured"),
    }
    for column in columns:
        cases.add(("type of a given column", column.type.name))
        if any(cell is None for cell in column.cells):
            cases.add(("nulls in a given column", table.format.name))
    return cases


def cases_of_both(pair: Pair, join: Join, back: Join, ending: str) -> set[Case]:
    """Returns the cases in a join from which both learn, besides those of the receiver alone."""
    with_columns = " with columns" if back.giving else ""
    cases = {("both learn", ending), ("which rows of the sender", back.rows + with_columns)}
    if join.align:
        cases.add(("aligned", ending))
    if ending != "done":
        return cases
    cases.add(("both learn by", join.protocol))
    turned = pair.turned()
    target = output_format(turned, back).name
    cases |= from_to("rows of the sender", turned.receiver.table.format.name, target)
    if back.giving:
        cases.add(("repeated keys of the receiver", back.giving.repeated))
        cases |= from_to("columns of the receiver", turned.sender.table.format.name, target)
    if join.align:
        for seen, half in ((pair, join), (turned, back)):
            cases.add(("repeated keys if aligned", half.said_repeated))
            own = seen.receiver.table.format.name
            cases |= from_to("aligned rows", own, output_format(seen, half).name)
    return cases


def from_to(topic: str, source: str, target: str) -> set[Case]:
    """A case for the format that something comes from, and one for that which it goes to."""
    return {(topic, f"from {source}"), (topic, f"to {target}")}


def arrow(source: str, target: str) -> str:
    """From one format to another."""
    return f"{source} → {target}"


def wanted(protocols: Iterable[str]) -> set[Case]:
    """Returns the cases that have to occur in a long run."""
    kinds = {("kind of key", kind.name) for kind in KINDS}
    kinds |= {("type of a key", held.name) for kind in KINDS for held in kind.types}
    rules = {rule for kind in KINDS for rules in kind.rules for rule in rules.split("+")}
    kinds |= {("rule", rule) for rule in rules}
    joins = {("output", kind) for kind in OUTPUT_KINDS}
    joins |= {("with a minimum", kind) for kind in ("rows", "count", "sum")}
    joins |= {("protocol", name) for name in ("auto", *protocols)}
    joins |= {("ending", ending) for ending in ENDINGS}
    joins |= {(f"with --{option}", "done") for option in ("quote-empty", "strict", "check")}
    joins |= {("rows", arrow(source, target)) for source in FORMATS for target in FORMATS}
    tables = {("compression", compression) for compression in COMPRESSIONS}
    tables |= {("encoding", encoding(codec, marked)) for codec, marked, _ in ENCODINGS}
    tables |= {("named by", arrow(naming, name)) for naming in NAMINGS[:3] for name in FORMATS}
    tables |= {("with --input-format", name) for name in FORMATS}
    tables |= {("with --escapes", name) for name in ("csv", "tsv")}
    for name in TYPED:
        tables |= {("named by", arrow("folder", name)), ("told by folders", name)}
    tables.add(("told by folders", "a key"))
    parties = {
        (f"{kind} of a column of", holder)
        for kind in ("sum", "shares", "counts")
        for holder in ("receiver", "sender")
    }
    others = wanted_of_groups() | wanted_of_rows() | wanted_of_both()
    return kinds | joins | tables | parties | others


def wanted_of_groups() -> set[Case]:
    """Returns those that have to occur among counts of groups."""
    sides = ("receiver", "sender")
    cases = {("groups", ending) for ending in GROUPS_ENDINGS}
    cases |= {("groups by", one) for one in sides}
    cases |= {("groups by", f"{one}, {other}") for one in sides for other in sides}
    cases |= {("groups to", name) for name in ("standard output", "csv", "tsv", *TYPED)}
    others = ("a least size", "all sizes", "told labels", "a list", "means")
    options = ("--parts", "--table-memory", *others)
    return cases | {("groups with", one) for one in options}


def wanted_of_rows() -> set[Case]:
    """Returns those that have to occur among rows, and the sender's columns for them."""
    rows = {("which rows", which) for which in ROWS}
    rows |= {("which rows", f"{which} with columns") for which in ROWS_WITH_PARTNERS}
    rows |= {("rows without a key", which) for which in ROWS}
    rows |= {("ending", ending) for ending in GIVING_ENDINGS}
    rows |= {("before an added name", prefix) for prefix in ("", SHARED_PREFIX, PREFIX)}
    # A file of lines has no room for columns.
    targets = [name for name in FORMATS if name != "txt"]
    columns = {("columns go", arrow(source, target)) for source in FORMATS for target in targets}
    columns |= {("columns beside", name) for name in FORMATS}
    columns |= {("columns by", protocol) for protocol in CARRYING}
    columns |= {("repeated keys of the sender", how) for how in REPEATED}
    columns |= {("taken", how) for how in ("all", "by name")}
    columns |= {("bytes of a row", how) for how in ("said", "measured")}
    columns |= {("nulls in a given column", name) for name in FORMATS}
    held = {held for kind in KINDS for held in kind.types} | {*types.TEXTS}
    return rows | columns | {("type of a given column", one.name) for one in held - {HALF_FLOAT}}


def wanted_of_both() -> set[Case]:
    """Returns those that have to occur if both learn."""
    cases = {("both learn", ending) for ending in ("done", "unwritable", *GIVING_ENDINGS)}
    cases |= {("both learn by", protocol) for protocol in CARRYING}
    cases |= {("aligned", ending) for ending in ("done", "repeated")}
    cases |= {("which rows of the sender", which) for which in ROWS}
    cases |= {("which rows of the sender", f"{which} with columns") for which in ROWS_WITH_PARTNERS}
    cases |= {("repeated keys of the receiver", how) for how in REPEATED}
    cases |= {("repeated keys if aligned", how) for how in REPEATED_ALIGNED}
    for name in FORMATS:
        cases |= {(topic, f"from {name}") for topic in OF_BOTH_BY_FORMAT}
        cases |= {(topic, f"to {name}") for topic in OF_BOTH_BY_FORMAT}
    # A file of lines has no room for columns.
    return cases - {("columns of the receiver", "to txt")}


class Summary:
    """The number of times that each case occurred, and with shared keys."""

    def __init__(self) -> None:
        self.pairs = self.joins = self.sharing = self.matching_rows = self.doubted = 0
        self._met: Counter[Case] = Counter()
        self._sharing: Counter[Case] = Counter()

    def add_pair(self, pair: Pair, expectation: Expectation) -> None:
        """Counts a pair."""
        self.pairs += 1
        self.sharing += expectation.shared > 0
        self.matching_rows += expectation.matching_rows
        self._count(cases_of_pair(pair), expectation)

    def add_join(self, pair: Pair, join: Join, expectation: Expectation, ending: str) -> None:
        """Counts a join."""
        self.joins += 1
        cases = cases_of_join(pair, join, ending)
        if join.kind == "rows" and expectation.keyless_rows:
            cases.add(("rows without a key", join.rows))
        self._count(cases, expectation)

    def add_unreadable(self, expectation: Expectation) -> None:
        """Counts a join in which a cell could not be read."""
        self.joins += 1
        self._count({("ending", "unreadable")}, expectation)

    def _count(self, cases: set[Case], expectation: Expectation) -> None:
        self._met.update(cases)
        self._sharing.update(cases if expectation.shared else ())

    def __iadd__(self, other: "Summary") -> "Summary":
        self.pairs += other.pairs
        self.joins += other.joins
        self.sharing += other.sharing
        self.matching_rows += other.matching_rows
        self.doubted += other.doubted
        self._met += other._met
        self._sharing += other._sharing
        return self

    def gaps(self, protocols: Iterable[str]) -> list[str]:
        """Returns the reasons that the run tells too little."""
        gaps = []
        if self.sharing * 2 < self.pairs:
            gaps.append(f"of {self.pairs} pairs only {self.sharing} share any key")
        if self.pairs >= ALL_OCCUR_PAIRS:
            missing = sorted(wanted(protocols) - set(self._sharing))
            gaps += [
                f"{topic}: {case or 'none'} never occurred with a match" for topic, case in missing
            ]
        return gaps

    def __str__(self) -> str:
        lines = [
            f"{self.pairs} pairs, {self.sharing} of them with shared keys; {self.joins} joins;"
            f" {self.matching_rows} matching rows; {self.doubted} tables refused first as doubtful",
            f"{'':>32}{'met':>8}{'with matches':>14}",
        ]
        topic = None
        for case, times in sorted(self._met.items()):
            if case[0] != topic:
                topic = case[0]
                lines.append(topic)
            lines.append(f"    {case[1] or 'none':<28}{times:>8}{self._sharing[case]:>14}")
        return "\n".join(lines)
