"""The house rules that no linter knows, read from the source tree itself."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "netwright"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
VAGUE = {"utils", "util", "helpers", "misc", "common", "tools", "manager", "functions"}
MOST_LINES = 350
# Loads that can run code that a file brings along.
UNSAFE_CALLS = {("torch", "load"), ("yaml", "load"), ("pickle", "load"), ("pickle", "loads")}
UNSAFE_MODULES = {"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}


def ids(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_file_holds_one_concept_of_readable_size(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "open the file with one sentence on its concept"
    assert text.count("\n") <= MOST_LINES, "split it: one concept a file"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_name_explains_itself(path: Path) -> None:
    words = set(path.stem.split("_"))
    assert not words & VAGUE, "say what the file is about"
    assert path.stem not in sys.stdlib_module_names, "it hides a standard module"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_file_has_its_own_test(path: Path) -> None:
    place = path.relative_to(PACKAGE)
    mirror = ROOT / "tests" / place.with_name(f"test_{place.name}")
    assert mirror.exists(), f"write {mirror.relative_to(ROOT)}"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_nothing_loads_code(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & UNSAFE_MODULES
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"eval", "exec", "compile"}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            called = (owner.id if isinstance(owner, ast.Name) else "", node.func.attr)
            assert called not in UNSAFE_CALLS


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_only_the_console_prints(path: Path) -> None:
    if path == PACKAGE / "core" / "console.py":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", "say it through netwright.core.console"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_users_are_refused_by_errors_not_by_asserts(path: Path) -> None:
    if "testing" in path.relative_to(PACKAGE).parts:  # a contract is made of assertions
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]
