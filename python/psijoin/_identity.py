"""Identities of parties."""

from __future__ import annotations

import os
from dataclasses import dataclass

from psijoin import _psijoin
from psijoin._errors import raised


@dataclass(frozen=True)
class Identity:
    """A key that this party is known by, in a file that only its owner can read.

    >>> import psijoin, tempfile
    >>> made = psijoin.Identity.create(tempfile.mkdtemp() + "/ann.pem")
    >>> made.fingerprint.startswith("psi1-")
    True
    >>> psijoin.Identity.load_or_create(made.path) == made
    True
    """

    path: str
    """The file."""
    fingerprint: str
    """The other party passes it as its `peer`. Tell it by telephone, or in signed mail."""

    @classmethod
    def load_or_create(cls, path: str | os.PathLike[str] | None = None) -> Identity:
        """Returns the identity in a file; without one, this user's own.

        A user's own identity is in the folder for configuration (`PSIJOIN_HOME` names another one),
        where the program looks, too. It is made if there is none. A file that is named must be
        there: see `create`.
        """
        try:
            return cls(*_psijoin.identity(path))
        except _psijoin.Failure as failure:
            raise raised(failure) from None

    @classmethod
    def create(cls, path: str | os.PathLike[str], passphrase: str | None = None) -> Identity:
        """Creates a new identity, in a new file. With a passphrase, the private key is encrypted
        there, and each `Session` needs the passphrase, too."""
        try:
            return cls(*_psijoin.new_identity(path, passphrase))
        except _psijoin.Failure as failure:
            raise raised(failure) from None

    def change_passphrase(self, old: str | None, new: str | None) -> None:
        """Gives the identity another passphrase: `new` in place of `old`. Either may be `None`, for
        an identity without one. The key and the fingerprint stay."""
        try:
            _psijoin.change_passphrase(self.path, old, new)
        except _psijoin.Failure as failure:
            raise raised(failure) from None
