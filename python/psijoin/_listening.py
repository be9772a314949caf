"""Messages of a running join: to `logging`, and to a bar of progress."""

from __future__ import annotations

import importlib.util
import logging
import sys
from typing import Any, Protocol

from psijoin._types import Progress

log = logging.getLogger("psijoin")


class Shown(Protocol):
    """Something that shows progress, and is closed in the end."""

    def __call__(self, what: str, done: int, total: int) -> None: ...
    def close(self) -> None: ...


class Listener:
    """Hears the messages that the program would print."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def say(self, text: str) -> None:
        log.info("%s", text)

    def warn(self, text: str) -> None:
        log.warning("%s", text)

    def at(self, what: str, bytes: int, total_bytes: int) -> None:
        if self._progress is not None:
            self._progress(what, bytes, total_bytes)


def progress_bar() -> Shown | None:
    """Returns a bar of tqdm, or else of rich, if somebody can see it and one of them is installed.

    tqdm comes first: it is the most common, and its bars suit notebooks of every kind.
    """
    is_seen = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    bars: dict[str, type[TqdmBar | RichBar]] = {"tqdm": TqdmBar, "rich": RichBar}
    installed = (bar for name, bar in bars.items() if importlib.util.find_spec(name) is not None)
    bar = next(installed, None) if is_seen else None
    return bar() if bar is not None else None


class TqdmBar:
    """A bar for each piece of work."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._what = ""
        self._is_closed = False

    def __call__(self, what: str, done: int, total: int) -> None:
        from tqdm.auto import tqdm

        # A join that was interrupted may still send a message.
        if self._is_closed:
            return
        if self._bar is None or what != self._what:
            self._end()
            self._what = what
            self._bar = tqdm(desc=what, total=total or None, unit="B", unit_scale=True, leave=False)
        self._bar.total = total or None
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        self._is_closed = True
        self._end()

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class RichBar:
    """A line for the piece of work that is being done."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
        )
        self._lines = Progress(*columns, console=Console(stderr=True), transient=True)
        self._line = self._lines.add_task("", visible=False)
        self._what = ""
        self._lines.start()

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self._what:
            self._what = what
            self._lines.reset(self._line, description=what, visible=True)
        self._lines.update(self._line, completed=done, total=total or None)

    def close(self) -> None:
        self._lines.stop()
