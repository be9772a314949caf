"""The words of the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from psijoin._types import Columns


def words(options: Mapping[str, Any]) -> list[str]:
    """Options as the command line has them."""
    said: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, Mapping):
            said += (f"{option}={_quoted(column)}={rule}" for column, rule in value.items())
        elif value is True:
            said.append(option)
        elif value is not None and value is not False:
            said.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return said


def names(columns: Columns | None) -> Sequence[str]:
    """The names, one by one."""
    return [columns] if isinstance(columns, str) else columns or []


def listed(columns: Columns | None) -> str | None:
    """Names with commas between them, as the command line has them."""
    return None if columns is None else ",".join(map(_quoted, names(columns)))


def _quoted(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a column is a text, not {type(name).__name__}")
    # A column may be called "all", which is a word to `--take`.
    is_plain = name and name != "all" and not set(name) & set(',"')
    return name if is_plain else '"' + name.replace('"', '""') + '"'
