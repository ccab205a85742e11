"""The house rules that no linter knows, read from the source tree itself.

A rule is one test over all files, which names every file that breaks it: thousands of tests of a
millisecond each would take longer to start than to run.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "netwright"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
VAGUE = {"utils", "util", "helpers", "misc", "common", "tools", "manager", "functions"}
MOST_LINES = 350
MOST_FILES = 25  # of a folder
# Loads that can run code that a file brings along.
UNSAFE_CALLS = {("torch", "load"), ("yaml", "load"), ("pickle", "load"), ("pickle", "loads")}
UNSAFE_MODULES = {"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
BUILT_IN = {"eval", "exec", "compile"}
# What reads and writes by a path, which may lead through a link: `core/files/storage.py` does not.
METHODS_BY_PATH = {"read_text", "read_bytes", "write_text", "write_bytes", "copytree", "copyfile"}
CALLS_BY_PATH = {"open", "load_file", "safe_open", "save_file"}
# Packages that are imported by another name than they are installed by.
IMPORTED_AS = {"pyyaml": "yaml", "pillow": "PIL", "scikit-learn": "sklearn"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def calls_in(path: Path) -> list[ast.expr]:
    """What a file calls."""
    return [node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]


def breaking(rule: Callable[[Path], bool]) -> list[str]:
    """The files for which this is true."""
    return [path.relative_to(PACKAGE).as_posix() for path in FILES if rule(path)]


def called_names(path: Path) -> set[str]:
    """What a file calls by a plain name: print(...)."""
    return {called.id for called in calls_in(path) if isinstance(called, ast.Name)}


def called_attributes(path: Path) -> set[tuple[str, str]]:
    """What a file calls as a part of something: torch.load(...)."""
    return {
        (called.value.id, called.attr)
        for called in calls_in(path)
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)
    }


def imported_packages(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.name for alias in node.names}
            names |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
    return {name.partition(".")[0] for name in names}


def test_files_are_found() -> None:
    assert len(FILES) > 400


def test_a_file_opens_with_one_sentence_on_its_concept() -> None:
    assert not breaking(lambda path: not ast.get_docstring(tree_of(path)))


def test_a_file_holds_one_concept_of_readable_size() -> None:
    assert not breaking(lambda path: path.read_text(encoding="utf-8").count("\n") > MOST_LINES)


def test_a_folder_is_no_heap() -> None:
    files = Counter(path.parent for path in PACKAGE.rglob("*.py"))
    assert not {str(folder): count for folder, count in files.items() if count > MOST_FILES}


def test_a_name_explains_itself() -> None:
    assert not breaking(lambda path: bool(set(path.stem.split("_")) & VAGUE))


def test_no_file_hides_a_standard_module() -> None:
    assert not breaking(lambda path: path.stem in sys.stdlib_module_names)


def test_a_file_has_its_own_test() -> None:
    def has_none(path: Path) -> bool:
        place = path.relative_to(PACKAGE)
        return not (ROOT / "tests" / place.with_name(f"test_{place.name}")).exists()

    assert not breaking(has_none)


def test_nothing_loads_code() -> None:
    assert not breaking(lambda path: bool(imported_packages(path) & UNSAFE_MODULES))
    assert not breaking(lambda path: bool(called_names(path) & BUILT_IN))
    assert not breaking(lambda path: bool(called_attributes(path) & UNSAFE_CALLS))


def opens_by_path(path: Path) -> bool:
    """Whether a file opens others by their paths."""
    calls = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    methods = {call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}
    opens = any(  # path.open("rb"); a folder opens a name by flags
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "open"
        and any(isinstance(given, ast.Constant) for given in call.args[:1])
        for call in calls
    )
    return opens or bool(methods & METHODS_BY_PATH) or bool(called_names(path) & CALLS_BY_PATH)


def test_runs_and_searches_reach_their_files_through_no_link() -> None:
    rooms, own_scratch = {"recipes", "train"}, PACKAGE / "recipes" / "fitting" / "launch.py"
    assert not breaking(
        lambda path: (
            path.relative_to(PACKAGE).parts[0] in rooms
            and path != own_scratch
            and opens_by_path(path)
        )
    )
    assert opens_by_path(own_scratch)  # or else this looks at nothing


def test_only_the_console_prints() -> None:
    console = PACKAGE / "core" / "terminal" / "console.py"
    assert not breaking(lambda path: path != console and "print" in called_names(path))


def test_only_the_console_writes_to_the_streams() -> None:
    """Whatever else wrote to them would have to make data visible by itself."""
    terminal = PACKAGE / "core" / "terminal"
    console, guard = terminal / "console.py", terminal / "guarded_streams.py"
    main = PACKAGE / "apps" / "cli" / "main.py"  # flushes them, and writes tracebacks by the guard
    stream = re.compile(r"\bsys\.std(?:out|err)\b|\btyper\.s?echo\b")

    def touches(path: Path) -> bool:
        return bool(stream.search(path.read_text(encoding="utf-8")))

    assert not breaking(lambda path: path not in {console, guard, main} and touches(path))
    assert not breaking(lambda path: path != console and "rich" in imported_packages(path))


def test_users_are_refused_by_errors_not_by_asserts() -> None:
    def asserts(path: Path) -> bool:
        if "testing" in path.relative_to(PACKAGE).parts:  # a contract is made of assertions
            return False
        return any(isinstance(node, ast.Assert) for node in ast.walk(tree_of(path)))

    assert not breaking(asserts)


def packages_declared(requirements: list[str]) -> set[str]:
    """The names by which these requirements are imported."""
    names = {re.split(r"[^\w-]", requirement)[0].lower() for requirement in requirements}
    return {IMPORTED_AS.get(name, name.replace("-", "_")) for name in names}


def imports_at_start(tree: ast.Module) -> Iterator[ast.AST]:
    """What is imported with the file: not in its functions, nor for types alone."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or is_for_types:
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        left.extend(ast.iter_child_nodes(node))


def packages_of(nodes: Iterator[ast.AST]) -> set[str]:
    """What is imported from, of these nodes."""
    names: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {name.partition(".")[0] for name in names}


def test_every_import_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = packages_declared(project["dependencies"]) | sys.stdlib_module_names | {"netwright"}
    extras = project["optional-dependencies"]
    optional = (extras[name] for name in ("tables", "text", "search", "export"))
    every = needed | packages_declared(list(chain.from_iterable(optional)))
    assert not breaking(lambda path: bool(packages_of(imports_at_start(tree_of(path))) - needed))
    assert not breaking(lambda path: bool(packages_of(ast.walk(tree_of(path))) - every))


def test_what_is_asked_of_a_module_at_run_time_are_methods() -> None:
    """From Python 3.12 on `isinstance` does not find the buffers and weights of a module."""

    def asks_for_more(path: Path) -> bool:
        return any(
            isinstance(node, ast.ClassDef)
            and any("runtime_checkable" in ast.unparse(one) for one in node.decorator_list)
            and any(isinstance(part, ast.AnnAssign | ast.Assign) for part in node.body)
            for node in ast.walk(tree_of(path))
        )

    assert not breaking(asks_for_more)


def test_what_contributors_are_told_to_change_is_there() -> None:
    """Files that are yet to be written are called x."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[\w*]+/)+[\w*]*(?:\.\w+)?)`", text))
    present = {name for name in named if not re.search(r"(?:/|_)x[._]", name)}
    assert len(present) > 30
    places = [ROOT, PACKAGE]
    assert [name for name in present if not any(any(at.glob(name)) for at in places)] == []
