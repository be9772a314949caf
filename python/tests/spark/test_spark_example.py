"""The example does what its page says."""

from pathlib import Path

from parties import PATIENCE, python

EXAMPLE = Path(__file__).parents[3] / "examples" / "spark"


def test_both_sides(tmp_path: Path) -> None:
    receiving, sending = (
        python(str(EXAMPLE / "party.py"), role, str(tmp_path / "demo")) for role in ("receive", "send")
    )
    said, errors = receiving.communicate(timeout=10 * PATIENCE)
    assert receiving.returncode == 0, errors
    page = (EXAMPLE / "README.md").read_text()
    shown = page.partition("```text\n")[2].partition("```")[0]
    assert shown in said
    assert "You learned 200 shared keys" in said
    said, errors = sending.communicate(timeout=10 * PATIENCE)
    assert sending.returncode == 0, errors
    assert "The receiver learned" in said
