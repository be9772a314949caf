"""Two processes of psijoin that join over TLS on this machine."""

import json
import subprocess
from pathlib import Path
from typing import Any


class Parties:
    """A receiver and a sender who know each other."""

    _roles = ("receive", "send")

    def __init__(self, program: Path, folder: Path, memory: str | None) -> None:
        self._program = program
        self._folder = folder
        folder.mkdir(exist_ok=True)
        self._limit = ["--memory", memory] if memory else []
        self._fingerprints = {
            role: self._run("keygen", "--out", folder / f"{role}.pem") for role in self._roles
        }

    def join(self, mine: Path, theirs: Path, output: Path) -> None:
        """Writes the receiver's rows whose key is shared."""
        listen = [*self._command("receive", mine), "--listen", "127.0.0.1:0", "--output", output]
        with subprocess.Popen(listen, stderr=subprocess.PIPE, text=True) as receiver:
            try:
                address = self._address(receiver)
                self._run(*self._command("send", theirs)[1:], "--connect", address)
                _, said = receiver.communicate()
            except BaseException:
                receiver.kill()
                raise
        if receiver.returncode:
            raise SystemExit(f"the receiver failed:\n{said}")

    def trust(self, role: str) -> dict[str, str]:
        """A party's identity, and whom it expects."""
        (peer,) = (fingerprint for of, fingerprint in self._fingerprints.items() if of != role)
        return {"identity": str(self._folder / f"{role}.pem"), "peer": peer}

    def peak_bytes(self) -> tuple[int, int]:
        """The most memory of the receiver and of the sender in the last join."""
        receiver, sender = (self._told(role)["peak_memory_bytes"] for role in self._roles)
        return receiver, sender

    def moved_bytes(self) -> int:
        """All bytes between them in the last join."""
        traffic = self._told("receive")["traffic"]
        return traffic["sent_bytes"] + traffic["received_bytes"]

    def _told(self, role: str) -> dict[str, Any]:
        return json.loads(self._report(role).read_text())

    def _report(self, role: str) -> Path:
        return self._folder / f"{role}.json"

    def _command(self, role: str, table: Path) -> list[str | Path]:
        """A party's command, but for where the parties meet."""
        trust = [word for name, value in self.trust(role).items() for word in (f"--{name}", value)]
        join = ["--input", table, "--key", "email", "--protocol", "rr22", *self._limit]
        return [self._program, role, *trust, *join, "--report", self._report(role)]

    @staticmethod
    def _address(receiver: subprocess.Popen[str]) -> str:
        said = ""
        for line in receiver.stderr:
            said += line
            _, found, rest = line.partition("listening on ")
            if found:
                return rest.partition(";")[0]
        raise SystemExit(f"the receiver does not listen:\n{said}")

    def _run(self, *arguments: str | Path) -> str:
        """Runs the program to its end, and returns what it prints."""
        ended = subprocess.run([self._program, *arguments], capture_output=True, text=True)
        if ended.returncode:
            raise SystemExit(f"psijoin {arguments[0]} failed:\n{ended.stderr}")
        return ended.stdout.strip()
