"""The house rules that no linter knows, read from the source tree itself.

A rule is one test over all files, which names every file that breaks it: thousands of tests of a
millisecond each would take longer to start than to run.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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
STREAM = re.compile(r"\bsys\.std(?:out|err)\b|\btyper\.s?echo\b")
# Packages that are imported by another name than they are installed by.
IMPORTED_AS = {
    "pyyaml": "yaml",
    "pillow": "PIL",
    "scikit-learn": "sklearn",
    "mlflow-skinny": "mlflow",
}
EXTRAS = ("tables", "text", "fast", "hub", "postgres", "search", "serve", "export", "track")
COMPILERS = {"numba"}  # of the extra `fast`: imported where it is asked for, as Triton is
BROUGHT_BY_TORCH = {"triton"}  # where it has CUDA: imported where a kernel is built, never at start
# Of the extra `serve`: imported by `serve` and `studio` alone.
SERVER = {"httptools", "starlette", "uvicorn"}
KERNELS = re.compile(r"_kernels$")  # files that are imported there alone


@dataclass(frozen=True)
class Facts:
    """What the rules ask of a file, read in one walk: its tree is let go.

    Args:
        is_explained: it opens with a sentence.
        lines: how many it has.
        writes_to_streams: it names standard output or standard error.
        called_names: what it calls by a plain name: print(...).
        called_attributes: what it calls as a part of a name: torch.load(...).
        called_methods: what it calls as a part of anything.
        opens_by_mode: it calls path.open("rb"); a folder opens a name by flags.
        imported: all packages and names that it imports.
        packages: the packages that it imports from, anywhere.
        packages_at_start: those of them that are imported with the file.
        asserts: it has an assert.
        asks_for_attributes: it asks at run time for more than methods.
    """

    is_explained: bool
    lines: int
    writes_to_streams: bool
    called_names: set[str]
    called_attributes: set[tuple[str, str]]
    called_methods: set[str]
    opens_by_mode: bool
    imported: set[str]
    packages: set[str]
    packages_at_start: set[str]
    asserts: bool
    asks_for_attributes: bool


@cache
def facts_of(path: Path) -> Facts:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    attributes = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
    return Facts(
        is_explained=bool(ast.get_docstring(tree)),
        lines=text.count("\n"),
        writes_to_streams=bool(STREAM.search(text)),
        called_names={call.func.id for call in calls if isinstance(call.func, ast.Name)},
        called_attributes={
            (called.value.id, called.attr)
            for called in attributes
            if isinstance(called.value, ast.Name)
        },
        called_methods={called.attr for called in attributes},
        opens_by_mode=any(
            isinstance(call.func, ast.Attribute)
            and call.func.attr == "open"
            and any(isinstance(given, ast.Constant) for given in call.args[:1])
            for call in calls
        ),
        imported=imported_names(nodes),
        packages=packages_of(nodes),
        packages_at_start=packages_of(imports_at_start(tree)),
        asserts=any(isinstance(node, ast.Assert) for node in nodes),
        asks_for_attributes=any(
            isinstance(node, ast.ClassDef) and asks_for_attributes(node) for node in nodes
        ),
    )


def imported_names(nodes: Iterable[ast.AST]) -> set[str]:
    """The first words of what is imported, and of what it is imported from."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.name for alias in node.names}
            names |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
    return {name.partition(".")[0] for name in names}


def packages_of(nodes: Iterable[ast.AST]) -> set[str]:
    """What is imported from, of these nodes."""
    names: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {name.partition(".")[0] for name in names}


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


def asks_for_attributes(made: ast.ClassDef) -> bool:
    """Whether `isinstance` would look for more than methods of this class."""
    return any("runtime_checkable" in ast.unparse(one) for one in made.decorator_list) and any(
        isinstance(part, ast.AnnAssign | ast.Assign) for part in made.body
    )


def breaking(rule: Callable[[Path], bool]) -> list[str]:
    """The files for which this is true."""
    return [path.relative_to(PACKAGE).as_posix() for path in FILES if rule(path)]


def test_files_are_found() -> None:
    assert len(FILES) > 400


def test_a_file_opens_with_one_sentence_on_its_concept() -> None:
    assert not breaking(lambda path: not facts_of(path).is_explained)


def test_a_file_holds_one_concept_of_readable_size() -> None:
    assert not breaking(lambda path: facts_of(path).lines > MOST_LINES)


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
    assert not breaking(lambda path: bool(facts_of(path).imported & UNSAFE_MODULES))
    assert not breaking(lambda path: bool(facts_of(path).called_names & BUILT_IN))
    assert not breaking(lambda path: bool(facts_of(path).called_attributes & UNSAFE_CALLS))


def opens_by_path(path: Path) -> bool:
    """Whether a file opens others by their paths."""
    facts = facts_of(path)
    by_method = facts.opens_by_mode or bool(facts.called_methods & METHODS_BY_PATH)
    return by_method or bool(facts.called_names & CALLS_BY_PATH)


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
    assert not breaking(lambda path: path != console and "print" in facts_of(path).called_names)


def test_only_the_console_writes_to_the_streams() -> None:
    """Whatever else wrote to them would have to make data visible by itself."""
    terminal = PACKAGE / "core" / "terminal"
    console, guard = terminal / "console.py", terminal / "guarded_streams.py"
    main = PACKAGE / "apps" / "cli" / "main.py"  # flushes them, and writes tracebacks by the guard
    assert not breaking(
        lambda path: path not in {console, guard, main} and facts_of(path).writes_to_streams
    )
    assert not breaking(lambda path: path != console and "rich" in facts_of(path).imported)


def test_users_are_refused_by_errors_not_by_asserts() -> None:
    def asserts(path: Path) -> bool:  # a contract is made of assertions
        return facts_of(path).asserts and "testing" not in path.relative_to(PACKAGE).parts

    assert not breaking(asserts)


def packages_declared(requirements: list[str]) -> set[str]:
    """The names by which these requirements are imported."""
    names = {re.split(r"[^\w-]", requirement)[0].lower() for requirement in requirements}
    return {IMPORTED_AS.get(name, name.replace("-", "_")) for name in names}


def test_every_import_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = packages_declared(project["dependencies"]) | sys.stdlib_module_names | {"netwright"}
    extras = project["optional-dependencies"]
    optional = (extras[name] for name in EXTRAS)
    every = needed | packages_declared(list(chain.from_iterable(optional))) | BROUGHT_BY_TORCH

    def is_missing_at_start(path: Path) -> bool:
        is_kernel = KERNELS.search(path.stem)
        more = BROUGHT_BY_TORCH | COMPILERS if is_kernel else set()
        is_served = path.relative_to(PACKAGE).parts[:2] in {("apps", "server"), ("apps", "studio")}
        more |= SERVER if is_served else set()
        return bool(facts_of(path).packages_at_start - needed - more)

    assert not breaking(is_missing_at_start)
    assert not breaking(lambda path: bool(facts_of(path).packages - every))


def test_what_is_asked_of_a_module_at_run_time_are_methods() -> None:
    """From Python 3.12 on `isinstance` does not find the buffers and weights of a module."""
    assert not breaking(lambda path: facts_of(path).asks_for_attributes)


def test_what_contributors_are_told_to_change_is_there() -> None:
    """Files that are yet to be written are called x."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[\w*]+/)+[\w*]*(?:\.\w+)?)`", text))
    present = {name for name in named if not re.search(r"(?:/|_)x[._]", name)}
    assert len(present) > 30
    places = [ROOT, PACKAGE]
    assert [name for name in present if not any(any(at.glob(name)) for at in places)] == []
