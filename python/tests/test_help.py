"""`help` names every option of the program that can be used from Python."""

import pydoc
import re
from collections.abc import Callable
from typing import Any

import psijoin
import pytest
from parties import PATIENCE, Role, program

ELSEWHERE = {
    "input": "the table is an argument",
    "key": "it is called `on`",
    "insecure-plaintext": "a session has a peer",
    "input-format": "of files",
    "delimiter": "of files",
    "quote": "of files",
    "no-header": "of files",
    "skip-lines": "of files",
    "comment": "of files",
    "escapes": "of files",
    "passphrase-file": "`passphrase` is a text",
    "profile": "keywords can come from a dictionary",
    "encoding": "of files",
}
"""The options that cannot be used, and why."""


def options(role: Role) -> set[str]:
    said, _ = program(role, "--help").communicate(timeout=PATIENCE)
    return set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", said, re.MULTILINE))


@pytest.mark.parametrize(
    ("role", "calls"),
    [
        ("receive", [psijoin.Session.receive]),
        ("send", [psijoin.Session.send, psijoin.Session.receive]),
    ],
)
def test_help_names_all_options(role: Role, calls: list[Callable[..., Any]]) -> None:
    shown = "".join(pydoc.render_doc(call) for call in [*calls, psijoin.Session.__init__])
    named = set(re.findall(r"`([a-z_]+)(?:=\w+)?`", shown))
    usable = options(role) - set(ELSEWHERE)
    assert len(usable) > 20
    assert {option.replace("-", "_") for option in usable} - named == set()


def test_nothing_is_excused_in_vain() -> None:
    assert set(ELSEWHERE) - options("receive") == set()


def test_there_is_an_exception_for_each_exit_code() -> None:
    said, _ = program("receive", "--help").communicate(timeout=PATIENCE)
    codes = {int(code) for code in re.findall(r"^  (\d)  ", said, re.MULTILINE)}
    kinds: list[type[psijoin.Error]] = [psijoin.Error, *psijoin.Error.__subclasses__()]
    assert len(codes) == 8
    assert {0, *(kind.code for kind in kinds)} == codes
