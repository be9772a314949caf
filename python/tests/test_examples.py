"""The examples do what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import psijoin
import pytest
from parties import PATIENCE, free_address, relay

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str, *args: str, home: Path) -> subprocess.Popen[str]:
    """An example, run by a user whose identity is in this folder."""
    return subprocess.Popen(
        [sys.executable, str(EXAMPLES / name), *args],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PSIJOIN_HOME": str(home)},
    )


def test_two_machines(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    ann, bob = tmp_path / "ann", tmp_path / "bob"
    fingerprints = {
        home: example("two_machines.py", "fingerprint", home=home)
        .communicate(timeout=PATIENCE)[0]
        .strip()
        for home in (ann, bob)
    }
    address = free_address()
    customers, subscribers = tmp_path / "customers.csv", tmp_path / "subscribers.csv"
    customers.write_text("email,id\nann@x.org,1\nbob@x.org,2\n")
    subscribers.write_text("email,plan\nBob@x.org,gold\neve@x.org,basic\n")
    receiving = example(
        "two_machines.py",
        "receive",
        str(customers),
        fingerprints[bob],
        "--listen",
        address,
        home=ann,
    )
    sending = example(
        "two_machines.py",
        "send",
        str(subscribers),
        fingerprints[ann],
        "--connect",
        address,
        home=bob,
    )
    said, _ = receiving.communicate(timeout=PATIENCE)
    assert said.startswith("email,id,plan\nbob@x.org,2,gold\n")
    assert "You learned 1 shared key " in said
    said, _ = sending.communicate(timeout=PATIENCE)
    assert said.startswith("The receiver learned")
    assert receiving.returncode == sending.returncode == 0


def test_many_partners(tmp_path: Path) -> None:
    said, _ = example("many_partners.py", home=tmp_path).communicate(timeout=PATIENCE)
    assert said == "newspaper: 2 shared customers\ncinema: 3 shared customers\n"


def test_the_notebook(tmp_path: Path) -> None:
    """Its outputs are those that it has in the repository, wherever it runs."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    stored = nbformat.read(EXAMPLES / "customers.ipynb", as_version=4)
    run = nbformat.from_dict(stored)
    for cell in run.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(run, kernel_name="python3", timeout=PATIENCE, resources=where).execute()
    assert texts(run) == texts(stored)
    plots = [output for output in outputs(run) if "image/png" in output.get("data", {})]
    assert len(plots) == 1


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def texts(notebook: Any) -> str:
    """Returns the output of the cells, whichever protocol suits this machine."""
    shown = (output.get("text") or output["data"]["text/plain"] for output in outputs(notebook))
    return re.sub(r"\w+ protects you", "it protects you", "".join(shown))


def test_lanes(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    ann, bob = (psijoin.Identity.create(tmp_path / name / "identity.pem") for name in folders(tmp_path))
    mine, theirs = tmp_path / "mine.csv", tmp_path / "theirs.csv"
    mine.write_text("id,plan\nann,1\nbob,2\n,3\nbob ,4\neve,5\n")
    theirs.write_text("id\nzoe\nbob\neve\n")
    address = relay()
    receiving, sending = (
        example("lanes.py", role, str(table), peer.fingerprint, "--relay", address, home=tmp_path / home)
        for role, table, peer, home in (("receive", mine, bob, "ann"), ("send", theirs, ann, "bob"))
    )
    said, _ = receiving.communicate(timeout=PATIENCE)
    assert said.endswith("['bob', 'bob ', 'eve']\n")
    assert "You learned 2 shared keys " in said
    said, _ = sending.communicate(timeout=PATIENCE)
    assert said.endswith("[]\n")


def folders(tmp_path: Path) -> list[str]:
    """The homes of Ann and Bob."""
    names = ["ann", "bob"]
    for name in names:
        (tmp_path / name).mkdir()
    return names
