"""The number of times that each type was drawn for each use, and the results."""

from collections import Counter
from dataclasses import dataclass, field

from .column_types import Type


@dataclass
class Tally:
    """Counts of outcomes by the name of a type, where it was, and what it was for."""

    counts: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    joins: Counter[str] = field(default_factory=Counter)

    def add(self, of: Type, source: str, use: str, outcome: str) -> None:
        self.counts[of.name, source, use, outcome] += 1

    def __iadd__(self, other: "Tally") -> "Tally":
        self.counts += other.counts
        self.joins += other.joins
        return self

    def totals(self) -> list[str]:
        """A line for each use and outcome, of all types."""
        totals: Counter[str] = Counter()
        for (_, _, use, outcome), count in self.counts.items():
            totals[f"{use}: {outcome}"] += count
        return [f"{count:6} {what}" for what, count in sorted(totals.items())]

    def show(self, types: list[Type]) -> list[str]:
        """A line for each type in each format of files: for each use how often it was equal, and
        how often refused.
        """
        uses = ("key", "given", "kept")
        width = max(len(each.name) for each in types)
        lines = [f"{'type':{width}}  {'file':7}" + "".join(f"  {use:>18}" for use in uses)]
        for each in types:
            for source in each.formats:
                cells = (self._cell(each.name, source, use) for use in uses)
                lines.append(
                    f"{each.name:{width}}  {source:7}" + "".join(f"  {c:>18}" for c in cells)
                )
        return lines

    def _cell(self, name: str, source: str, use: str) -> str:
        outcomes = {
            outcome: count
            for (of, held, used, outcome), count in self.counts.items()
            if (of, held, used) == (name, source, use)
        }
        return ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) or "-"

    def missing(self, types: list[Type]) -> list[str]:
        """The types that were not drawn for a use, each with the format and the use."""
        drawn = {(name, source, use) for name, source, use, _ in self.counts}
        return [
            f"{each.name} in {source} ({use})"
            for each in types
            for source in each.formats
            for use in ("key", "given", "kept")
            if (each.name, source, use) not in drawn
        ]
