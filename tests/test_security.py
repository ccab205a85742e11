"""What SECURITY.md says of limits, commands and files is so."""

import re
from pathlib import Path

from netwright.apps.cli.main import COMMANDS
from netwright.core.files.json_text import DEEPEST as DEEPEST_JSON
from netwright.core.limits import LIMITS
from netwright.recipes.plan.recipe_file import DEEPEST, LARGEST

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_limit_has_its_row() -> None:
    rows = [
        f"| `{limit.variable}` | {limit.default:,.10g} {limit.unit} | {limit.bounds} |"
        for limit in LIMITS
    ]
    assert [line for line in PAGE.splitlines() if line.startswith("| `")] == rows
    depths = (
        f"at most {LARGEST:,} bytes and {DEEPEST} levels, JSON has at most {DEEPEST_JSON} levels"
    )
    assert depths in PAGE


def test_commands_and_files_that_are_named_are_there() -> None:
    assert set(re.findall(r"`netwright ([a-z-]+)", PAGE)) <= set(COMMANDS)
    for path in re.findall(r"`(tests/\S+)`", PAGE):
        assert (ROOT / path).exists(), path


def test_it_can_be_found() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        assert "](SECURITY.md)" in (ROOT / name).read_text(encoding="utf-8"), name
