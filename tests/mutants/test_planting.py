"""A planted change is in force in its process, and in no other."""

import subprocess
import sys
from pathlib import Path

import pytest

from netwright.core import checks
from tests.mutants.child import Child
from tests.mutants.mutant import Mutant, mutants_of
from tests.mutants.planting import (
    compiled,
    functions_to_change,
    module_name,
    package_folder,
    plant_at_import,
    plant_in_started_processes,
)
from tests.mutants.trial import change_functions

FILE = "core/checks.py"


def mutant(change: str) -> Mutant:
    source = (package_folder() / FILE).read_text(encoding="utf-8")
    return next(one for one in mutants_of(FILE, source) if one.change == change)


def refuses_zero() -> bool:
    try:
        checks.check_positive("x", 0)
    except ValueError:
        return True
    return False


def test_a_function_gets_the_changed_code() -> None:
    code = compiled(mutant("value > 0 -> value >= 0"), package_folder())
    targets = functions_to_change(code)
    assert [function.__name__ for function, _ in targets] == ["check_positive"]

    def changed(_folder: Path) -> list[bool]:
        before = refuses_zero()
        return [before, change_functions(targets), refuses_zero()]

    assert Child(changed).wait().value == [True, True, False]
    assert refuses_zero()


def test_the_next_import_finds_the_changed_file() -> None:
    code = compiled(mutant("value > 0 -> value >= 0"), package_folder())

    def changed(_folder: Path) -> bool:
        import importlib
        import sys

        name = module_name(FILE)
        del sys.modules[name]
        plant_at_import(name, code)
        importlib.import_module(name).check_positive("x", 0)
        return True

    assert Child(changed).wait().value is True
    assert refuses_zero()


@pytest.mark.slow
def test_unchanged_code_changes_no_function() -> None:
    source = (package_folder() / FILE).read_text(encoding="utf-8")
    code = compile(source, str(package_folder() / FILE), "exec")
    assert functions_to_change(code) == []
    assert len(functions_to_change(code, all_of_them=True)) > 5


def test_a_process_that_is_started_imports_the_changed_file() -> None:
    asks = "from netwright.core.checks import check_positive; check_positive('x', 0)"

    def changed(folder: Path) -> list[int]:
        codes = [subprocess.run([sys.executable, "-c", asks], check=False).returncode]
        plant_in_started_processes(mutant("value > 0 -> value >= 0"), package_folder(), folder)
        codes.append(subprocess.run([sys.executable, "-c", asks], check=False).returncode)
        return codes

    assert Child(changed).wait().value == [1, 0]
