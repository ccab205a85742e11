"""The tests that a change can reach, on a small graph of imports, and on the real one."""

import subprocess
from pathlib import Path

import grimp
import pytest

from tests.changed_tests import ALL, OF_EVERY_MODULE, build_graph, changed_files, reached_tests

IMPORTS = {
    "netwright.core.checks": [],
    "netwright.models.mlp": ["netwright.core.checks"],
    "netwright.models.catalog": [],
    "netwright.recipes.fit": ["netwright.models.mlp"],
    "netwright.recipes.ready.catalog": [],
    "tests.core.test_checks": ["netwright.core.checks"],
    "tests.models.test_mlp": ["netwright.models.mlp", "tests.models.specs"],
    "tests.models.specs": [],
    "tests.recipes.conftest": ["netwright.recipes.fit"],
    "tests.recipes.test_fit": ["netwright.recipes.fit"],
    "tests.recipes.ready.test_catalog": ["netwright.recipes.ready.catalog"],
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    made = grimp.ImportGraph()
    for importer, imported in IMPORTS.items():
        made.add_module(importer)
        for module in imported:
            made.add_import(importer=importer, imported=module)
    return made


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        (
            "src/netwright/core/checks.py",
            ["tests/core/test_checks.py", "tests/models/test_mlp.py", "tests/recipes"],
        ),
        (  # its catalog may load it
            "src/netwright/models/mlp.py",
            ["tests/models/test_catalog.py", "tests/models/test_mlp.py", "tests/recipes"],
        ),
        ("src/netwright/recipes/fit.py", ["tests/recipes"]),  # its fixtures are not imported
        ("src/netwright/recipes/ready/iris.yaml", ["tests/recipes/ready/test_catalog.py"]),
        ("src/netwright/recipes/deleted.py", []),
        ("tests/models/specs.py", ["tests/models/test_mlp.py"]),
        ("tests/core/test_checks.py", ["tests/core/test_checks.py"]),
    ],
)
def test_a_file_reaches_the_tests_that_import_it(
    graph: grimp.ImportGraph, file: str, wanted: list[str]
) -> None:
    assert reached_tests(graph, [file]) == sorted([*wanted, *OF_EVERY_MODULE])


def test_pages_have_tests_of_their_own_and_settings_reach_all(graph: grimp.ImportGraph) -> None:
    pages = ["tests/test_lessons.py", "tests/test_readme.py"]
    assert reached_tests(graph, ["README.md"]) == pages
    assert reached_tests(graph, ["docs/1-a-neuron-and-its-line.md"]) == pages
    assert reached_tests(graph, ["CHANGELOG.md", "Makefile"]) == []
    assert reached_tests(graph, ["README.md", "pyproject.toml"]) == [ALL]


def test_several_changes_reach_what_each_reaches(graph: grimp.ImportGraph) -> None:
    assert reached_tests(graph, ["tests/models/specs.py", "tests/core/test_checks.py"]) == sorted(
        ["tests/core/test_checks.py", "tests/models/test_mlp.py", *OF_EVERY_MODULE]
    )


def test_in_the_real_graph_a_claim_reaches_few_tests_and_an_error_most() -> None:
    real = build_graph()
    claim = reached_tests(real, ["src/netwright/theory/networks/residual_decay.py"])
    assert "tests/theory/networks/test_residual_decay.py" in claim
    assert "tests/theory/test_catalog.py" in claim
    assert len(claim) < 20
    assert len(reached_tests(real, ["src/netwright/core/errors.py"])) > 200


def test_changes_are_those_since_the_branch_left_committed_or_not(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    def write(name: str, text: str) -> None:
        (tmp_path / name).write_text(text)

    git("init", "-b", "main")
    for name in ("kept", "committed", "edited", "moved"):
        write(name, name)
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "branch")
    write("committed", "other")
    git("mv", "moved", "place")
    git("commit", "-a", "-m", "second")
    write("edited", "other")
    write("new", "")
    write(".gitignore", "ignored\n")
    write("ignored", "")
    wanted = {"committed", "edited", "moved", "place", "new", ".gitignore"}
    assert set(changed_files(tmp_path, "main")) == wanted
