"""`netwright list`: every table, each row with a sentence, and no torch for it."""

import json
import subprocess
import sys

import pytest

from netwright.apps.cli.sentences import TABLES
from netwright.models.catalog import MODELS
from tests.apps.cli.conftest import Type


@pytest.mark.parametrize("kind", TABLES)
def test_every_row_has_a_sentence(type_in: Type, kind: str) -> None:
    shown = json.loads(type_in("list", kind, "--json").out)
    assert shown
    assert all(shown.values())
    table = type_in("list", kind).out
    assert all(name in table for name in shown)


def test_every_model_is_listed(type_in: Type) -> None:
    shown = json.loads(type_in("list", "--json").out)
    assert list(shown) == list(MODELS)
    assert shown["mlp"].startswith("Affine maps")


def test_a_list_and_a_mistyped_kind_import_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from netwright.apps.cli.main import run\n"
        "codes = run(['list', 'models']), run(['list', 'modls'])\n"
        "print(codes, [name for name in ('torch', 'numpy', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "(0, 2) []"
    assert "did you mean 'models'?" in done.stderr
