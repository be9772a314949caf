"""The wheel, and the program in it against Python at the other end."""

import importlib.metadata
import os
from pathlib import Path

import psijoin
import pytest
from parties import OTHER, PATIENCE, Role, free_address, program


def test_the_program_is_there() -> None:
    shown = program("--version")
    said, _ = shown.communicate(timeout=PATIENCE)
    assert (shown.returncode, said) == (0, f"psijoin {psijoin.__version__}\n")
    demo = program("demo")
    assert "8 shared customers" in demo.communicate(timeout=PATIENCE)[0]
    wrong = program("nonsense")
    assert "nonsense" in wrong.communicate(timeout=PATIENCE)[1]
    assert wrong.returncode == 2


def test_the_wheel_is_for_builds_with_the_lock() -> None:
    """Free-threaded builds of Python do not take such a wheel: pip refuses it there."""
    about = importlib.metadata.distribution("psijoin").read_text("WHEEL")
    assert about is not None
    assert "Tag: cp311-abi3-" in about


@pytest.mark.parametrize("role", ["receive", "send"])
def test_a_join_with_the_program(
    tmp_path: Path, identities: tuple[psijoin.Identity, psijoin.Identity], role: Role
) -> None:
    ann, bob = identities
    address = free_address()
    table = tmp_path / "theirs.csv"
    table.write_text("id\nb\nc\nd\n")
    output = tmp_path / "out.csv"
    trust = [
        "--identity",
        bob.path,
        "--peer",
        ann.fingerprint,
        "--input",
        str(table),
        "--key",
        "id",
    ]
    writes = ["--output", str(output)] if role == "send" else []
    running = program(OTHER[role], "--connect", address, *trust, *writes)
    session = psijoin.Session(identity=ann, peer=bob.fingerprint, listen=address, progress=False)
    rows = getattr(session, role)(["a", "b", "c"]).rows
    assert running.communicate(timeout=PATIENCE)[1], "it says what was learned"
    assert running.returncode == 0
    assert rows == (["b", "c"] if role == "receive" else None)
    assert role == "receive" or output.read_text() == "id\nb\nc\n"


def test_an_identity_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSIJOIN_HOME", str(tmp_path / "home"))
    first = psijoin.Identity.load_or_create()
    assert psijoin.Identity.load_or_create() == first
    assert os.stat(first.path).st_mode & 0o777 == 0o600
    shown = program("fingerprint")
    assert shown.communicate(timeout=PATIENCE)[0].strip() == first.fingerprint
    with pytest.raises(psijoin.InputError, match="exists already"):
        psijoin.Identity.create(first.path)
