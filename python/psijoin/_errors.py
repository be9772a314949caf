"""Exceptions, one for each exit code of the program."""

import json
from typing import Any

from psijoin import _psijoin


class Error(Exception):
    """A join that failed. The message says what happened and what to do, and holds no key and no
    value of a table.
    """

    code: int = 1
    """The program's exit code for it."""
    try_again: bool = False
    """True if the call may succeed later without any change."""
    report: dict[str, Any] | None = None
    """The facts of the run, as in the program's reports."""


class UsageError(Error):
    """The request is invalid."""

    code = 2


class InputError(Error):
    """A table cannot be used, or a file cannot be read or written."""

    code = 3


class NetworkError(Error):
    """Nobody came in time, the other party went away, or the network failed."""

    code = 4


class PeerError(Error):
    """The other party has other settings, is not the expected one, or broke the protocol."""

    code = 5


class PolicyError(Error):
    """The result must not be told: for example, fewer keys are shared than the minimum."""

    code = 6


class PeerFailedError(Error):
    """The other party cannot continue, for a reason that its own message tells."""

    code = 7


_BY_CODE = {
    kind.code: kind
    for kind in (UsageError, InputError, NetworkError, PeerError, PolicyError, PeerFailedError)
}


def raised(failure: _psijoin.Failure) -> Error:
    """Returns the exception for the failure that the program would have ended with."""
    code, message, hint, try_again, report = failure.args
    error = _BY_CODE.get(code, Error)(_psijoin.with_hint(message, hint))
    error.try_again = try_again
    error.report = json.loads(report) if report else None
    return error
