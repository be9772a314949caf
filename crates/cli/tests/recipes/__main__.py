"""Runs the recipes of docs/recipes.md in the order of the page, and compares what they print. With
--write it puts that there.
"""

import argparse
import os
import re
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from free_address import free_address

PAGE = Path("docs/recipes.md")
PATIENCE = 120

# A line that names a file, and what is in it; or a command; or what the commands before it print.
BLOCK = re.compile(
    r"(?:^`(?P<file>[\w.]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)

# The replacement of DuckDB's own program, which does the same with a database in memory.
DUCKDB = f"""#!{sys.executable}
import sys
import duckdb
option, query = sys.argv[1:]
assert option == "-c"
duckdb.sql(query)
"""


@dataclass
class Party:
    """Somebody with an identity, and a folder for it."""

    home: Path
    fingerprint: str = ""

    def environment(self, tools: Path) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{tools}:{os.environ['PATH']}",
            "XDG_CONFIG_HOME": str(self.home),
            "HOME": str(self.home),
        }


class Kitchen:
    """The place of recipes: Ann's folder, and Bob's home next to it."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.tools = folder / "tools"
        self.work = folder / "work"
        self.tools.mkdir()
        self.work.mkdir()
        shim = self.tools / "duckdb"
        shim.write_text(DUCKDB)
        shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
        (self.tools / "psijoin").symlink_to(program.resolve())
        self.ann, self.bob = (Party(folder / name) for name in ("ann", "bob"))
        for party in (self.ann, self.bob):
            party.home.mkdir()
            made = self.start(party, "psijoin fingerprint")
            party.fingerprint = made.communicate(timeout=PATIENCE)[0].strip()
        self.address = free_address()
        self.waiting: list[subprocess.Popen[str]] = []

    def start(self, party: Party, commands: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.work,
            env=party.environment(self.tools),
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, commands: str) -> str:
        """Returns the commands' output. Those of a sender wait for those of a receiver, and print
        nothing.
        """
        for word, meant in (
            ("psi1-ANN", self.ann.fingerprint),
            ("psi1-BOB", self.bob.fingerprint),
            ("bob.example.org:7766", self.address),
            ("0.0.0.0:7766", self.address),
        ):
            commands = commands.replace(word, meant)
        if "psijoin send" in commands:
            self.waiting.append(self.start(self.bob, commands))
            return ""
        running = [self.start(self.ann, commands), *self.waiting]
        self.waiting = []
        printed = [process.communicate(timeout=PATIENCE)[0] for process in running]
        codes = [process.returncode for process in running]
        assert codes == [0] * len(running), f"exit codes {codes}:\n{commands}"
        return printed[0]


def main() -> int:
    parser = argparse.ArgumentParser(prog=".ci/recipes", description=__doc__)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    page = PAGE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        kitchen = Kitchen(Path(folder), options.program)
        printed = ""

        def cooked(block: re.Match[str]) -> str:
            nonlocal printed
            if block["file"]:
                (kitchen.work / block["file"]).write_text(block["text"])
            elif block["kind"] == "sh":
                printed += kitchen.run(block["text"])
            else:
                text, printed = printed, ""
                return f"```{block['kind']}\n{text}```"
            return block[0]

        found = BLOCK.sub(cooked, page)
        assert not printed, f"the page does not say what this is:\n{printed}"
    if options.write:
        PAGE.write_text(found)
    elif found != page:
        sys.stderr.writelines(f"{line}\n" for line in differences(page, found))
        return 1
    count = sum(block["kind"] == "sh" for block in BLOCK.finditer(page))
    print(f"{count} commands of {PAGE} print what it says")
    return 0


def differences(page: str, found: str) -> list[str]:
    pairs = zip(BLOCK.finditer(page), BLOCK.finditer(found), strict=True)
    return [
        f"{PAGE} says\n{one[0]}\nand not\n{other[0]}"
        for one, other in pairs
        if one[0] != other[0]
    ]


if __name__ == "__main__":
    sys.exit(main())
