"""What a join says meanwhile: to `logging`, and to whoever shows progress."""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Callable
from typing import Any, Protocol

log = logging.getLogger("psijoin")

Progress = Callable[[str, int, int], None]
"""Is told what is being done, and of how many bytes how many are done: 0 of 0 if that is not known."""


class Shown(Protocol):
    """Something that shows progress, and is closed in the end."""

    def __call__(self, what: str, done: int, total: int) -> None: ...
    def close(self) -> None: ...


class Listener:
    """Hears what the program would say to a person."""

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
    """A bar of tqdm, if somebody can see it and tqdm is installed."""
    is_seen = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    if is_seen and importlib.util.find_spec("tqdm") is not None:
        return TqdmBar()
    return None


class TqdmBar:
    """A bar for each piece of work."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        from tqdm.auto import tqdm

        if self._bar is None or what != self._what:
            self.close()
            self._what = what
            self._bar = tqdm(desc=what, total=total or None, unit="B", unit_scale=True, leave=False)
        self._bar.total = total or None
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
