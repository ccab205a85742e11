"""The public face: the lazy table, the names a type checker sees and `dir` agree."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import netwright
from netwright.models.catalog import MODELS

FACE = Path(netwright.__file__)
PUBLIC = [
    "Data",
    "DataSpec",
    "NetClassifier",
    "NetRegressor",
    "NetwrightError",
    "Run",
    "compare",
    "cross_validate",
    "data",
    "doctor",
    "explain",
    "find_lr",
    "fit",
    "inspect",
    "inspectable",
    "inspection",
    "metrics",
    "models",
    "open_run",
    "search",
    "theory",
    "train",
    "verify",
]


def typed_names() -> list[str]:
    """The names in the `TYPE_CHECKING` block."""
    tree = ast.parse(FACE.read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    return sorted(
        alias.asname or alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )


def test_public_names_are_these() -> None:
    """Adding or removing one is a decision: write it here and in the changelog."""
    assert sorted(netwright.__all__) == PUBLIC
    assert dir(netwright) == PUBLIC
    assert typed_names() == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_loads(name: str) -> None:
    assert getattr(netwright, name) is not None


@pytest.mark.parametrize("name", MODELS)
def test_every_model_and_its_config_are_in_the_face_of_the_room(name: str) -> None:
    model = MODELS.load(name)
    for part in (model, model.settings):
        assert getattr(netwright.models, part.__name__) is part


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        netwright.fitt  # noqa: B018 - the access is the test


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = "import sys, netwright; print([m for m in ('torch', 'numpy') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
