"""Parties that know each other by name, from the invitation on, and places where both go."""

from datetime import timedelta
from pathlib import Path

import parties
import psijoin
import pytest

MINE = ["ann", "bob", "eve", "joe"]
THEIRS = ["joe", "zoe", "bob"]


@pytest.fixture
def ann(tmp_path: Path) -> psijoin.Identity:
    return identity(tmp_path / "ann")


@pytest.fixture
def bob(tmp_path: Path) -> psijoin.Identity:
    return identity(tmp_path / "bob")


def identity(folder: Path) -> psijoin.Identity:
    """An identity in a folder of its own, where its peers are kept, too."""
    folder.mkdir()
    return psijoin.Identity.create(folder / "identity.pem")


def join(ann: psijoin.Identity, bob: psijoin.Identity) -> None:
    """Joins by name."""
    receiver = psijoin.Session(peer="bob", identity=ann, progress=False)
    sender = psijoin.Session(peer="ann", identity=bob, progress=False)
    shared, _ = psijoin.together(lambda: receiver.receive(MINE), lambda: sender.send(THEIRS))
    assert shared.rows == ["bob", "joe"]


def test_names_at_a_relay(ann: psijoin.Identity, bob: psijoin.Identity) -> None:
    address = parties.free_address()
    parties.program("relay", "--listen", address)
    link = psijoin.invite("bob", relay=address, own_name="ann", identity=ann)
    assert psijoin.accept(link, identity=bob) == "ann"
    for _ in range(2):
        join(ann, bob)
    [known] = psijoin.peers(ann)
    assert (known.name, known.state, known.fingerprint) == ("bob", "known", bob.fingerprint)
    assert known.place == f"at the relay {address}"
    known.rename("robert")
    [known] = psijoin.peers(ann)
    assert known.name == "robert"
    known.remove()
    assert psijoin.peers(ann) == []


def test_names_in_a_folder(ann: psijoin.Identity, bob: psijoin.Identity, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    link = psijoin.invite("bob", via=shared, identity=ann)
    assert psijoin.accept(link, "ann", via=shared, identity=bob) == "ann"
    join(ann, bob)


def test_fingerprints_at_a_relay(ann: psijoin.Identity, bob: psijoin.Identity) -> None:
    address = parties.free_address()
    parties.program("relay", "--listen", address)
    receiver, sender = (
        psijoin.Session(peer=peer.fingerprint, relay=address, identity=own, progress=False)
        for own, peer in ((ann, bob), (bob, ann))
    )
    shared, _ = psijoin.together(lambda: receiver.receive(MINE), lambda: sender.send(THEIRS))
    assert shared.rows == ["bob", "joe"]


def test_a_guest_is_confirmed_first(ann: psijoin.Identity, bob: psijoin.Identity) -> None:
    link = psijoin.invite("bob", listen=parties.free_address(), confirm=True, identity=ann)
    psijoin.accept(link, "ann", identity=bob)
    [invited] = psijoin.peers(ann)
    assert (invited.state, invited.fingerprint) == ("invited", None)
    invited.confirm(bob.fingerprint)
    join(ann, bob)


def test_what_cannot_be_meant(ann: psijoin.Identity, tmp_path: Path) -> None:
    with pytest.raises(psijoin.UsageError, match="one of relay, listen and via"):
        psijoin.invite("bob", identity=ann)
    with pytest.raises(psijoin.UsageError, match="`relay`"):
        psijoin.invite("bob", relay="https://relay.example.org/", identity=ann)
    with pytest.raises(psijoin.UsageError, match="positive"):
        psijoin.invite("bob", via=tmp_path, expires=timedelta(0), identity=ann)
    with pytest.raises(psijoin.UsageError, match="nobody by the name bob"):
        psijoin.Session(peer="bob", identity=ann).receive(MINE)
    with pytest.raises(psijoin.UsageError, match="by one of connect, listen, relay and via"):
        psijoin.Session(peer="bob", relay="r:1", via=tmp_path, identity=ann)


def test_an_identity_with_a_passphrase(bob: psijoin.Identity, tmp_path: Path) -> None:
    ann = psijoin.Identity.create(tmp_path / "ann.pem", "correct horse")
    assert "ENCRYPTED" in Path(ann.path).read_text()
    # Its name needs none.
    assert psijoin.Identity.load_or_create(ann.path) == ann
    link = psijoin.invite(
        "bob", listen=parties.free_address(), identity=ann, passphrase="correct horse"
    )
    psijoin.accept(link, "ann", identity=bob)

    def receiver(passphrase: str | None) -> psijoin.Session:
        return psijoin.Session(peer="bob", identity=ann, passphrase=passphrase, progress=False)

    with pytest.raises(psijoin.UsageError, match="`passphrase` tells it") as error:
        receiver(None).receive(MINE)
    assert "has a passphrase" in str(error.value)
    with pytest.raises(psijoin.InputError, match="wrong passphrase for"):
        receiver("correct house").receive(MINE)
    with pytest.raises(psijoin.UsageError, match="1 to 1024 bytes"):
        receiver("")
    sender = psijoin.Session(peer="ann", identity=bob, progress=False)
    shared, _ = psijoin.together(
        lambda: receiver("correct horse").receive(MINE), lambda: sender.send(THEIRS)
    )
    assert shared.rows == ["bob", "joe"]


def test_a_passphrase_changes_and_the_key_does_not(tmp_path: Path) -> None:
    ann = psijoin.Identity.create(tmp_path / "ann.pem")
    with pytest.raises(psijoin.UsageError, match="has no passphrase"):
        ann.change_passphrase("correct horse", "another")
    ann.change_passphrase(None, "correct horse")
    assert "ENCRYPTED" in Path(ann.path).read_text()
    with pytest.raises(psijoin.UsageError, match="has a passphrase"):
        ann.change_passphrase(None, "another")
    ann.change_passphrase("correct horse", "another")
    with pytest.raises(psijoin.InputError, match="wrong passphrase for"):
        ann.change_passphrase("correct horse", None)
    ann.change_passphrase("another", None)
    assert "ENCRYPTED" not in Path(ann.path).read_text()
    assert psijoin.Identity.load_or_create(ann.path) == ann
