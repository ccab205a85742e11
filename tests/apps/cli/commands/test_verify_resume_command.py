"""`netwright verify-resume`: one sentence, or JSON; exit 1 where something differs."""

import json
from pathlib import Path
from typing import Any

import pytest

from netwright.recipes.fitting import verify_resume as room
from netwright.recipes.fitting.verify_resume import Verification
from tests.apps.cli.conftest import Type


def found(*different: str) -> Verification:
    return Verification(run=Path("r"), first=1, stopped=2, last=3, compared=9, different=different)


@pytest.mark.parametrize(("different", "code"), [((), 0), (("step",), 1)])
def test_it_tells_and_the_exit_code_is_the_verdict(
    type_in: Type, monkeypatch: pytest.MonkeyPatch, different: tuple[str, ...], code: int
) -> None:
    asked: dict[str, Any] = {}

    def verify(run: Path, *, steps: int) -> Verification:
        asked.update(run=run, steps=steps)
        return found(*different)

    monkeypatch.setattr(room, "verify_resume", verify)
    answer = type_in("verify-resume", "runs/x", "--steps", 7)
    assert (answer.code, asked) == (code, {"run": Path("runs/x"), "steps": 7})
    assert answer.out == f"runs/x: {found(*different)}\n"
    shown = json.loads(type_in("verify-resume", "runs/x", "--json").out)
    assert (shown["holds"], shown["different"]) == (not different, list(different))


def test_a_folder_that_is_no_run_is_refused(type_in: Type) -> None:
    answer = type_in("verify-resume", "nowhere")
    assert answer.code == 2
    assert answer.err == "error: nowhere is not a run folder: it has no config.yaml\n"
