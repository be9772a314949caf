"""A standalone Spark on this machine: a master, workers, and drivers of joins, each a process."""

import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pyspark
from parties import PATIENCE

LONG = 10 * PATIENCE
"""The seconds that a machine may take that does other things, too."""

HOST = "127.0.0.1"
HERE = Path(__file__).parent
WORKERS = 3


def eventually(holds: Callable[[], bool]) -> None:
    """Waits until this holds."""
    until = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < until, "it does not come"
        time.sleep(0.05)


class Standalone:
    """A master and its workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._daemons: list[subprocess.Popen[bytes]] = []
        ports = ["--host", HOST, "--port", "0", "--webui-port", "0"]
        try:
            log = self._start("master.Master", *ports)
            self.address = _said(log, r"Starting Spark master at (spark://\S+)")
            sizes = ["--cores", "2", "--memory", "2g", "--work-dir", str(folder / "workers")]
            logs = [self._start("worker.Worker", *ports, *sizes, self.address) for _ in range(WORKERS)]
            for log in logs:
                _said(log, "Successfully (registered) with master")
        except BaseException:
            self.stop()
            raise

    def _start(self, daemon: str, *args: str) -> Path:
        home = Path(pyspark.__file__).parent
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{daemon}", *args]
        log = self._folder / f"{len(self._daemons)}.log"
        settings = {
            "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_DIRS": str(self._folder / "local"),
        }  # fmt: skip
        with log.open("wb") as file:
            process = subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, **settings})
        self._daemons.append(process)
        return log

    def stop(self) -> None:
        # Workers end their executors.
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(PATIENCE)
            daemon.kill()


def _said(log: Path, pattern: str) -> str:
    """What a daemon says, once it does."""
    found: list[str] = []

    def is_there() -> bool:
        found.extend(re.findall(pattern, log.read_text()))
        return bool(found)

    eventually(is_there)
    return found[0]


class Driver:
    """The driver of a party, which joins as often as it is told to: `driver.py`."""

    def __init__(self, spark: Standalone, role: str, folder: Path, **settings: Any) -> None:
        """Its Spark has these settings, named without `spark.`, beside its own."""
        self.role, self.work = role, folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        told = [spark.address, role, str(folder), json.dumps(settings)]
        command = [sys.executable, str(HERE / "driver.py"), *told]
        with (folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            started = self.answer()
            assert started is not None, "the driver has not started"
            self._app = started["app"]
        except BaseException:
            self.stop()
            raise

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                self._answers.put(json.loads(line))
        self._answers.put(None)

    def ask(self, **told: Any) -> None:
        """Lets it join."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any] | None:
        """What has come of it; None if the driver is gone."""
        return self._answers.get(timeout=LONG)

    def has_answered(self) -> bool:
        return not self._answers.empty()

    def left(self) -> list[list[str]]:
        """What joins have left in `work`, in no order of theirs."""
        return sorted(sorted(path.name for path in folder.iterdir()) for folder in self.work.iterdir())

    def remove_left(self) -> None:
        """What somebody has to do whose JVM was killed."""
        for folder in self.work.iterdir():
            shutil.rmtree(folder)

    def processes(self, kind: str) -> list[int]:
        """Its own processes of this kind: driver, jvm, executor or worker (of Python)."""
        if kind == "driver":
            return [self._process.pid]
        below = {process for process in _processes() if _is_below(process, self._process.pid)}
        if kind == "jvm":
            return [process for process in below if b"java" in _command(process).split(b"\0")[0]]
        executors = [
            process for process in _processes()
            if (command := _command(process)).endswith(b"\0") and f"\0{self._app}\0".encode() in command
            and b"CoarseGrainedExecutorBackend" in command
        ]  # fmt: skip
        if kind == "executor":
            return executors
        daemons = {process for process in _processes() if b"pyspark.daemon" in _command(process)}
        of_app = [daemon for daemon in daemons if any(_is_below(daemon, executor) for executor in executors)]
        return [process for process in of_app if _parent(process) in daemons]

    def process(self, kind: str, at: int) -> int | None:
        """One of its own processes of this kind: the one that is at work in this process, if there
        is one. Others may be idle.
        """
        found = self.processes(kind)
        at_work = [process for process in found if at == process or _is_below(at, process)]
        return next(iter([*at_work, *found]), None)

    def all_processes(self) -> list[int]:
        kinds = ("driver", "jvm", "executor", "worker")
        return [process for kind in kinds for process in self.processes(kind)]

    def stop(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        self._process.kill()
        self._process.wait()


def kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, SIGKILL)


def is_alive(process: int) -> bool:
    """Whether it runs, and is not only waited for."""
    return _stat(process)[:1] not in ([], ["Z"])


def _processes() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").glob("[0-9]*"))


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        # It has ended.
        return b""


def _stat(process: int) -> list[str]:
    """Its state, its parent, and more: proc_pid_stat(5)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _parent(process: int) -> int:
    return int((_stat(process) or ["", "0"])[1])


def _is_below(process: int, ancestor: int) -> bool:
    while process > 1:
        process = _parent(process)
        if process == ancestor:
            return True
    return False
