"""A new run from old weights: they are the first ones, and have to fit."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.fit import prepare, put_together, resolve
from netwright.recipes.start_from import take_weights


def test_the_first_weights_are_the_old_ones(moons_run: nw.Run, tmp_path: Path) -> None:
    assert moons_run.folder is not None
    run = nw.fit(
        "mlp",
        "moons",
        hidden=(16,),
        epochs=1,
        lr=1e-12,
        start_from=moons_run,
        out=tmp_path / "new",
        quiet=True,
    )
    for name, tensor in moons_run.model.state_dict().items():
        torch.testing.assert_close(run.model.state_dict()[name], tensor, rtol=0, atol=1e-9)
    assert run.folder != moons_run.folder
    config = yaml.safe_load((tmp_path / "new" / "config.yaml").read_text())
    assert config["from"] == str(moons_run.folder.resolve())


def test_a_new_run_is_new_but_for_the_weights(moons_run: nw.Run, tmp_path: Path) -> None:
    run = nw.fit(
        "mlp", "moons", hidden=(16,), epochs=2, start_from=moons_run, out=tmp_path / "x", quiet=True
    )
    assert [row.epoch for row in run.history] == [1] * 4 + [2] * 4
    assert run.results["metrics"]["loss"] < moons_run.results["metrics"]["loss"]


def test_weights_of_a_run_that_has_not_finished(tmp_path: Path) -> None:
    nw.fit("mlp", "moons", hidden=(3,), max_steps=4, out=tmp_path / "old", quiet=True)
    for file in (tmp_path / "old" / "model").iterdir():
        file.unlink()
    (tmp_path / "old" / "model").rmdir()
    recipe, data, _ = resolve("mlp", "moons", hidden=(3,))
    module = put_together(recipe, data).model
    take_weights(module, tmp_path / "old")
    assert float(next(module.parameters()).sum().detach()) != 0


@pytest.mark.parametrize(
    ("hidden", "difference"),
    [
        ((9,), "'hidden.0.0.weight' is 16x2 there and 9x2 here"),
        ((16, 4), "'hidden.1.0.weight' is absent there and 4x16 here"),
    ],
)
def test_weights_that_do_not_fit_are_refused(
    moons_run: nw.Run, hidden: tuple[int, ...], difference: str
) -> None:
    module = prepare("mlp", "moons", hidden=hidden).model
    assert moons_run.folder is not None
    sentence = f"the weights of {moons_run.folder} do not fit this model: {difference}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        take_weights(module, moons_run.folder)


def test_where_there_are_no_weights(tmp_path: Path) -> None:
    sentence = f"{tmp_path} holds no weights: it has neither a model nor a checkpoint"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        take_weights(prepare("mlp", "moons").model, tmp_path)


def test_a_run_that_goes_on_needs_the_old_run_no_more(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"hidden": (3,), "epochs": 3, "quiet": True}
    nw.fit("mlp", "moons", out=tmp_path / "old", **settings)
    new = {**settings, "out": tmp_path / "new", "start_from": tmp_path / "old"}
    nw.fit("mlp", "moons", max_steps=4, **new)
    (tmp_path / "old").rename(tmp_path / "moved")
    assert nw.fit("mlp", "moons", resume="auto", **new).results["finished"]
    with pytest.raises(ConfigError, match=r"^a run that goes on has its own weights: give resume"):
        nw.fit("mlp", "moons", resume=tmp_path / "new", start_from=tmp_path / "moved", **settings)
