"""A mutant in a running process: in functions that are there, or in a file yet to be imported.

A change inside a function is planted into a process that has the whole package imported: every
function object made from that code gets the changed code. What takes effect at import is planted
before the package is imported, by a finder that compiles the changed source. Processes that a test
starts plant it by themselves, when they begin.
"""

import ast
import gc
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from tests.mutants.mutant import Mutant, mutated_tree


def package_folder() -> Path:
    """Where netwright lies, which this does not import."""
    spec = importlib.util.find_spec("netwright")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("netwright is not installed here; `make demo` installs it")
    return Path(spec.origin).parent


def module_name(file: str) -> str:
    """`netwright.core.files.storage` for core/files/storage.py."""
    return "netwright." + file.removesuffix(".py").replace("/", ".")


def compiled(mutant: Mutant, package: Path) -> CodeType:
    """The changed file."""
    path = package / mutant.file
    tree = mutated_tree(mutant, path.read_text(encoding="utf-8"))
    return compile(tree, str(path), "exec", dont_inherit=True)


def functions_to_change(
    code: CodeType, *, all_of_them: bool = False
) -> list[tuple[FunctionType, CodeType]]:
    """The functions of this file whose code differs, with their new code; none if it cannot be.

    It cannot where two functions are not to be told apart by name and line, or where the changed
    one takes other variables from the function around it.
    """
    changed: dict[tuple[str, int], list[CodeType]] = {}
    for one in _codes_in(code):
        changed.setdefault((one.co_qualname, one.co_firstlineno), []).append(one)
    gc.unfreeze()
    found = []
    for function in gc.get_objects():
        if type(function) is not FunctionType or function.__code__.co_filename != code.co_filename:
            continue
        own = function.__code__
        options = changed.get((own.co_qualname, own.co_firstlineno), [])
        if own in options and not all_of_them:
            continue
        if len(options) != 1 or options[0].co_freevars != own.co_freevars:
            return []
        found.append((function, options[0]))
    return found


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)


class _ChangedLoader(SourceFileLoader):
    """Loads a module from code that is there already."""

    def __init__(self, fullname: str, code: CodeType) -> None:
        super().__init__(fullname, code.co_filename)
        self.code = code

    def get_code(self, fullname: str) -> CodeType:
        return self.code


class _ChangedFinder(MetaPathFinder):
    """Finds one module, changed."""

    def __init__(self, fullname: str, code: CodeType) -> None:
        self.fullname, self.code = fullname, code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.fullname:
            return None
        loader = _ChangedLoader(fullname, self.code)
        return importlib.util.spec_from_file_location(
            fullname, self.code.co_filename, loader=loader
        )


def plant_at_import(fullname: str, code: CodeType) -> None:
    """Let the next import of this module find the changed code."""
    sys.meta_path.insert(0, _ChangedFinder(fullname, code))


# What a Python process runs when it begins, where it lies on its path.
AT_START = """
import sys
from importlib.util import spec_from_file_location

class Finder:
    def find_spec(self, name, path=None, target=None):
        return spec_from_file_location(name, {source!r}) if name == {name!r} else None

sys.meta_path.insert(0, Finder())
"""


def plant_in_started_processes(mutant: Mutant, package: Path, folder: Path) -> None:
    """Let processes that this one starts import the changed file, which is written to a folder."""
    tree = mutated_tree(mutant, (package / mutant.file).read_text(encoding="utf-8"))
    place = folder / "planted"
    place.mkdir()
    source = place / "changed.py"
    source.write_text(ast.unparse(tree), encoding="utf-8")
    text = AT_START.format(source=str(source), name=module_name(mutant.file))
    (place / "sitecustomize.py").write_text(text, encoding="utf-8")
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{place}{os.pathsep}{path}" if path else str(place)
