"""Two parties with a table each, and a relay."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 120

MINE = range(0, 3000)
THEIRS = range(1000, 5000)


def lines(numbers: range) -> str:
    return "".join(f"{number}\n" for number in numbers)


@dataclass
class Ended:
    """The remains of a party."""

    code: int
    printed: str
    said: str

    def says(self, code: int, *texts: str) -> None:
        assert self.code == code, f"exit code {self.code} and not {code}:\n{self.said}"
        for text in texts:
            assert text in self.said, f"{text!r} is not in:\n{self.said}"


@dataclass
class Running:
    """A party at work."""

    process: subprocess.Popen[str]

    def wait_for(self, text: str) -> None:
        """Reads what it says up to this text."""
        assert self.process.stderr
        heard = ""
        for line in self.process.stderr:
            heard += line
            if text in line:
                return
        raise AssertionError(f"{text!r} is not in:\n{heard}")

    def end(self) -> Ended:
        printed, said = self.process.communicate(timeout=PATIENCE)
        return Ended(self.process.returncode, printed, said)


class Parties:
    """Ann, who receives, and Bob, who sends."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.folder = program.resolve(), folder
        self.fingerprints = {}
        for role, numbers in (("receive", MINE), ("send", THEIRS)):
            (folder / role).mkdir()
            (folder / f"{role}.txt").write_text(lines(numbers))
            made = self.run(role, "fingerprint")
            self.fingerprints[role] = made.printed.strip()

    def begin(self, role: str, *args: str, **environment: str) -> Running:
        """Starts the program in a party's folder."""
        own = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        own.pop("PSIJOIN_LOG", None)
        process = subprocess.Popen(
            [self.program, *args],
            env={**own, "PSIJOIN_HOME": str(self.folder / role), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return Running(process)

    def run(self, role: str, *args: str) -> Ended:
        return self.begin(role, *args).end()

    def start(self, role: str, *args: str, **environment: str) -> Running:
        other = "send" if role == "receive" else "receive"
        peer = f"--peer={self.fingerprints[other]}"
        table = f"--input={self.folder / role}.txt"
        return self.begin(role, role, peer, table, *args, **environment)

    def join(self, mine: list[str], theirs: list[str], **environment: str) -> list[Ended]:
        """Lets both join, which has to end well."""
        running = [
            self.start("receive", *mine, **environment),
            self.start("send", *theirs, **environment),
        ]
        ended = [party.end() for party in running]
        for party in ended:
            party.says(0)
        assert ended[0].printed == lines(range(1000, 3000)), "these are not the shared rows"
        return ended

    @contextmanager
    def relay(self, *args: str, address: str = "127.0.0.1:0") -> Iterator[str]:
        """Runs a relay, and gives its address."""
        process = subprocess.Popen(
            [self.program, "relay", "--listen", address, *args],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr
        try:
            said = process.stderr.readline()
            found = re.search(r"listening on (\S+)", said)
            assert found, said
            yield found[1]
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)
