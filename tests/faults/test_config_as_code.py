"""T22: code hidden in settings and saved files; only names that stand in our tables resolve.

A payload names a module which leaves a mark in the working folder when it is imported, or a call
that does. It is put where recipes, the command line, saved models and checkpoints hold names and
values. It is refused, or ignored, and the mark is never there.
"""

import importlib
import json
import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.apps.cli.main import run as typed
from netwright.core import catalog
from netwright.core.files.storage import sha256_of
from netwright.train.callback import Callback
from netwright.train.saving.checkpoint_content import FORMAT
from netwright.train.state import TrainState
from tests.faults.scenario import Figures, Scenario

MARK = "mark"
MODULE = "leaves_a_mark"
SOURCE = f"import os\n\n\ndef go(*parts, **names):\n    os.mkdir({MARK!r})\n\n\ngo()\n"
CALL = f"{MODULE}:go"
TARGET = {"_target_": f"{MODULE}.go"}

RECIPES = (
    f"model: {MODULE}.go",
    f"model: {CALL}",
    "model: netwright.models.mlp:MLP",
    f"model: {{_target_: {MODULE}.go}}",
    f"model: {{name: mlp, _target_: {MODULE}.go}}",
    f"model: {{name: mlp, activation: {CALL}}}",
    f"model: {{name: mlp, auto_map: {{AutoModel: {MODULE}.go}}}}",
    f"model: {{name: mlp, _attn_implementation_internal: {CALL}}}",
    f"data: {{name: {CALL}}}",
    f"data: {{name: moons, loader: {MODULE}.go}}",
    f"train: {{optimizer: {MODULE}.go}}",
    f"train: {{schedule: {CALL}}}",
    "seed: ${env:SEED}",
    "seed: ${oc.env:SEED}",
    "seed: '{{ 1 + 1 }}'",
    f"plugins: [{MODULE}]",
    f"entry_points: {{netwright.models: {CALL}}}",
    f"model: !!python/object/apply:{MODULE}.go []",
    f"model: !!python/module:{MODULE}",
)
SETTINGS = (
    f"model.name={CALL}",
    f"model._target_={MODULE}.go",
    f"model.initializer={MODULE}.go",
    f"train.optimizer=__import__('{MODULE}')",
    "train.lr=$(mkdir mark)",
    f"data.name=!!python/name:{MODULE}.go",
)
MODEL, ENCODER, STATE = "model/config.json", "model/preprocessor.json", "state.json"
# File, place in it, and what is put there.
FILES: tuple[tuple[str, tuple[str | int, ...], Any], ...] = (
    (MODEL, ("name",), f"{MODULE}.go"),
    (MODEL, ("name",), CALL),
    (MODEL, ("class",), CALL),
    (MODEL, ("auto_map",), {"AutoModel": f"{MODULE}.go"}),
    (MODEL, ("settings", "_instantiator"), CALL),
    (MODEL, ("settings", "activation"), "torch.nn:ReLU"),
    (MODEL, ("task", "kind"), f"{MODULE}.go"),
    (MODEL, ("task",), TARGET),
    (ENCODER, ("kind",), CALL),
    (ENCODER, ("kind",), "netwright.data.array_encoder:ArrayEncoder"),
    (ENCODER, ("_target_",), CALL),
    (ENCODER, ("features", 0, "kind"), f"{MODULE}.go"),
    (STATE, ("_target_",), CALL),
    (STATE, ("optimizer",), {"$object": [CALL]}),
    (STATE, ("callbacks", "$pairs"), [[CALL, {"$pairs": []}]]),
)


class StopAt(Callback):
    """Ends a run in the middle, so that it can be resumed."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def on_epoch_end(self, state: TrainState) -> None:
        if state.epoch == self.epoch:
            raise RuntimeError("stopped")


LEARN: dict[str, Any] = {"optimizer": "adam", "epochs": 4, "quiet": True}


def prepared_runs(folder: Path) -> tuple[Path, Path]:
    """A finished run on a table, and one that stopped after an epoch."""
    table = folder / "table.csv"
    rows = [f"{row}.5,{'red' if row % 3 else 'blue'},{row % 2}" for row in range(30)]
    table.write_text("\n".join(["size,colour,y", *rows]) + "\n", encoding="utf-8")
    whole, half = folder / "whole", folder / "half"
    nw.fit("mlp", table, target="y", hidden=(3,), epochs=1, out=whole, quiet=True)
    with pytest.raises(RuntimeError, match="stopped"):
        nw.fit("softmax", "xor", out=half, callbacks=[StopAt(2)], **LEARN)
    return whole, half


def tampered(run: Path, file: str, place: tuple[str | int, ...], value: Any) -> Path:
    """A copy of a run with another value in a file, and a manifest that fits it."""
    copy = run.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)
    for path in copy.rglob(file):
        values = inner = json.loads(path.read_text(encoding="utf-8"))
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = value
        path.write_text(json.dumps(values), encoding="utf-8")
        manifest = path.with_name("manifest.json")
        sums = json.loads(manifest.read_text(encoding="utf-8"))
        sums["sha256"][path.name] = sha256_of(path)
        manifest.write_text(json.dumps(sums), encoding="utf-8")
    return copy


def opened(run: Path, file: str) -> str:
    """Use the run: "refused", "ignored", or the name of a raw error."""
    try:
        if file == STATE:
            nw.fit("softmax", "xor", resume=run, callbacks=[StopAt(9)], **LEARN)
        else:
            nw.open_run(run).predict([{"size": 1.5, "colour": "red"}])
        return "ignored"
    except nw.NetwrightError:
        return "refused"
    except Exception as error:
        return type(error).__name__


def told(*words: str) -> str:
    """Type a command: "refused" with exit code 2, or what else it did."""
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            code = typed(["train", *words, "--print-config"])
    except Exception as error:
        return type(error).__name__
    return "refused" if code == 2 else f"exit code {code}"


def outcomes(folder: Path) -> Iterator[tuple[str, bool]]:
    """What became of each payload, and whether it left its mark."""
    mark = folder / MARK

    def seen(outcome: str) -> tuple[str, bool]:
        there = mark.exists()
        shutil.rmtree(mark, ignore_errors=True)
        return outcome, there

    recipe = folder / "recipe.yaml"
    for text in RECIPES:
        recipe.write_text(text, encoding="utf-8")
        yield seen(told("-c", str(recipe)))
    for text in SETTINGS:
        yield seen(told("--set", text))
    whole, half = prepared_runs(folder)
    for file, place, value in FILES:
        run = tampered(half if file == STATE else whole, file, place, value)
        yield seen(opened(run, file))


def measure(folder: Path) -> Figures:
    (folder / f"{MODULE}.py").write_text(SOURCE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        patch.setenv("SEED", "7")
        found = list(outcomes(folder))
    passed = [outcome in {"refused", "ignored"} and not mark for outcome, mark in found]
    return Figures(
        n=len(found),
        passed=sum(passed),
        counts={
            "refused": sum(outcome == "refused" for outcome, _ in found),
            "ignored": sum(outcome == "ignored" for outcome, _ in found),
            "marks": sum(mark for _, mark in found),
        },
    )


SCENARIO = Scenario(
    code="T22",
    title="code hidden in settings and files",
    measure=measure,
    least={"refused": 36},  # the others are keys that nothing reads
)


def test_code_in_settings_and_files_is_never_run(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert (figures.n, figures.counts["marks"]) == (40, 0)


def test_the_same_files_without_a_payload_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole, half = prepared_runs(tmp_path)
    assert opened(tampered(whole, MODEL, ("format",), 1), MODEL) == "ignored"
    assert opened(tampered(half, STATE, ("format",), FORMAT), STATE) == "ignored"


@pytest.mark.slow
def test_planted_bug_of_a_catalog_that_imports_what_it_is_told_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(self: catalog.Catalog[Any], name: str) -> Any:
        module, _, attribute = self._rows.get(name, name).partition(":")
        return getattr(importlib.import_module(module), attribute)

    monkeypatch.setattr(catalog.Catalog, "load", load)
    figures = measure(tmp_path)
    assert figures.counts["marks"] > 0
    assert figures.passed < figures.n
