"""The public face: `__all__`, `dir` and what a type checker sees of it agree."""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import netwright
from netwright.models.catalog import MODELS
from netwright.models.published_sizes import EVERY_SIZE
from tests.repetition import for_each

FACE = Path(netwright.__file__)
PUBLIC = [
    "Callback",
    "Data",
    "DataSpec",
    "NetClassifier",
    "NetRegressor",
    "NetwrightError",
    "Run",
    "TrainConfig",
    "Trainer",
    "backprop",
    "compare",
    "compare_runs",
    "cross_validate",
    "data",
    "decoding",
    "doctor",
    "evaluate_groups",
    "explain",
    "find_lr",
    "fit",
    "import_run",
    "inspect",
    "inspectable",
    "inspection",
    "layers",
    "list_runs",
    "load_recipe",
    "losses",
    "metrics",
    "models",
    "note_run",
    "open_run",
    "optimizers",
    "recipes",
    "search",
    "search_models",
    "theory",
    "train",
    "verify",
]


ROOMS = [name for name in PUBLIC if isinstance(getattr(netwright, name), ModuleType)]


def imported(package: ModuleType, *, later: bool) -> list[str]:
    """What a package imports of its own: at once, or `later`, shown to type checkers alone."""
    body = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8")).body
    nodes = [inner for node in body if isinstance(node, ast.If) for inner in node.body]
    return [
        alias.asname or alias.name
        for node in (nodes if later else body)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package.__name__)
        for alias in node.names
    ]


def test_public_names_are_these() -> None:
    """Adding or removing one is a decision: write it here and in the changelog."""
    assert sorted(netwright.__all__) == PUBLIC
    assert dir(netwright) == PUBLIC
    assert sorted(imported(netwright, later=True)) == PUBLIC


def test_every_public_name_loads() -> None:
    assert not [name for name in PUBLIC if getattr(netwright, name) is None]


def test_every_room_that_may_be_imported_is_public() -> None:
    inner = {"apps", "core", "testing"}  # the command, what all share, contracts for tests
    rooms = {folder.parent.name for folder in FACE.parent.glob("*/__init__.py")}
    assert set(ROOMS) == rooms - inner


@for_each("name", ROOMS)
def test_a_room_lists_its_names_and_has_them(name: str) -> None:
    room = getattr(netwright, name)
    assert room.__all__
    assert sorted(set(room.__all__)) == sorted(room.__all__)
    assert set(room.__all__) <= set(dir(room))
    for public in room.__all__:
        assert not isinstance(getattr(room, public), ModuleType), public
    with pytest.raises(AttributeError, match=f"^module 'netwright.{name}' has no attribute 'nix'$"):
        room.nix  # noqa: B018 - the access is the test


@for_each("name", ROOMS)
def test_a_type_checker_sees_the_names_of_a_room(name: str) -> None:
    """But for sizes of networks: their classes are made from the rows of a table."""
    room = getattr(netwright, name)
    kinds = [row.kind for row in EVERY_SIZE.values()]
    made = {part for kind in kinds for part in (kind, f"{kind}Config")}
    seen = imported(room, later=True) + imported(room, later=False)
    assert sorted(seen) == sorted({*room.__all__} - made)


@for_each("name", ROOMS)
def test_no_file_of_a_room_hides_a_name_that_is_loaded_later(name: str) -> None:
    """Importing a file sets an attribute of its package: `layers.softmax` must be loaded before."""
    room = getattr(netwright, name)
    files = {path.stem for path in Path(room.__file__).parent.iterdir()}
    assert not files.intersection(imported(room, later=True))


def test_every_model_and_its_config_are_in_the_face_of_the_room() -> None:
    for name in MODELS:
        model = MODELS.load(name)
        for part in (model, model.settings):
            assert getattr(netwright.models, part.__name__) is part


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        netwright.fitt  # noqa: B018 - the access is the test


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = (
        "import sys, netwright, netwright.inspection, netwright.recipes;"
        "print([name for name in ('torch', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
