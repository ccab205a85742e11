"""A new run from old weights: they are the first ones, and have to fit."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import save_file
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data
from netwright.recipes.fitting.fit import prepare, put_together, resolve
from netwright.recipes.fitting.training import train
from netwright.recipes.saved.start_from import compare_scaling, take_weights
from tests.train.toy_runs import assert_same, copy_of


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
    measured = [row.epoch for row in run.history if row.split != "step"]
    assert measured == [1] * 4 + [2] * 4
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
    sentence = f"{tmp_path} contains no weights: it has neither a model nor a checkpoint"
    module = prepare("mlp", "moons").model
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        take_weights(module, tmp_path)
    (tmp_path / "model.safetensors").touch()  # as a model is published
    sentence = f"{sentence}; did you mean {tmp_path / 'model.safetensors'}?"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        take_weights(module, tmp_path)


def test_a_run_that_goes_on_needs_the_old_run_no_more(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"hidden": (3,), "epochs": 3, "quiet": True}
    nw.fit("mlp", "moons", out=tmp_path / "old", **settings)
    new = {**settings, "out": tmp_path / "new", "start_from": tmp_path / "old"}
    nw.fit("mlp", "moons", max_steps=4, **new)
    (tmp_path / "old").rename(tmp_path / "moved")
    assert nw.fit("mlp", "moons", resume="auto", **new).results["finished"]
    with pytest.raises(ConfigError, match=r"^a resumed run has its own weights: give resume"):
        nw.fit("mlp", "moons", resume=tmp_path / "new", start_from=tmp_path / "moved", **settings)


class Conv(nn.Module):
    """A kernel, a hidden layer and a head, as small as can be."""

    def __init__(self, *, channels: int = 1, hidden: int = 2, outputs: int = 3) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(channels, 2, 3), nn.BatchNorm2d(2)
        self.features = nn.Sequential(nn.Linear(2, hidden), nn.ReLU())
        self.fc = nn.Linear(hidden, outputs)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc(self.features(self.norm(self.conv(x)).mean(dim=(2, 3))))
        return out


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "weights.safetensors"
    save_file(Conv().state_dict(), path)
    return path


def test_a_file_of_weights_is_taken_whole(tmp_path: Path) -> None:
    first, other, path = Conv(), Conv(), tmp_path / "weights.safetensors"
    save_file(first.state_dict(), path)
    assert take_weights(other, path) == ()
    assert_same(copy_of(other), copy_of(first))


def test_other_classes_get_a_new_head_and_all_else_is_kept(weights: Path) -> None:
    old, module = Conv(), Conv(outputs=5)
    take_weights(old, weights)
    drawn = copy_of(module.fc)
    assert take_weights(module, weights) == ("new head: fc has 5 outputs instead of 3",)
    assert_same(copy_of(module.fc), drawn)
    kept = {name: tensor for name, tensor in copy_of(old).items() if not name.startswith("fc.")}
    assert_same({name: copy_of(module)[name] for name in kept}, kept)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("abc", ()),
        ("", ()),
        ("xyz", ("new head: fc is for different classes: x, y ... instead of a, b ...",)),
        ("acb", ("new head: fc is for different classes: c, b instead of b, c",)),
        ("abd", ("new head: fc is for different classes: d instead of c",)),
    ],
)
def test_as_many_other_classes_get_a_new_head_too(
    names: str, told: tuple[str, ...], tmp_path: Path
) -> None:
    old = nw.fit(Conv(), named("abc"), epochs=1, device="cpu", out=tmp_path / "old", quiet=True)
    module = Conv()
    drawn = copy_of(module)
    assert take_weights(module, tmp_path / "old", tuple(names)) == told
    own = {name for name in drawn if told and name.startswith("fc.")}
    wanted = {name: (drawn if name in own else copy_of(old.model))[name] for name in drawn}
    assert_same(copy_of(module), wanted)


def test_a_head_alone_is_not_for_other_classes(tmp_path: Path) -> None:
    nw.fit("logistic", named("abc"), epochs=1, out=tmp_path / "old", quiet=True)
    module = prepare("logistic", named("xbc")).model
    take_weights(module, tmp_path / "old", tuple("abc"))
    difference = "its classes are a, b ... there and x, b ... here"
    sentence = f"the weights of {tmp_path / 'old'} do not fit this model: {difference}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        take_weights(module, tmp_path / "old", tuple("xbc"))


def test_a_run_on_other_classes_has_a_new_head(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nw.fit(Conv(), named("abc"), epochs=1, out=tmp_path / "old", quiet=True)
    nw.fit(Conv(), named("xyz"), epochs=1, out=tmp_path / "new", start_from=tmp_path / "old")
    told = "note: new head: fc is for different classes: x, y ... instead of a, b ...\n"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "difference"),
    [
        ({"channels": 3}, "the channels of an image are 1 there and 3 here"),
        ({"hidden": 4}, "'features.0.weight' is 2x2 there and 4x2 here"),
        ({"hidden": 4, "outputs": 5}, "'features.0.weight' is 2x2 there and 4x2 here"),
    ],
)
def test_nothing_but_the_outputs_of_the_head_may_differ(
    weights: Path, settings: dict[str, int], difference: str
) -> None:
    module = Conv(**settings)
    before = copy_of(module)
    sentence = f"the weights of {weights} do not fit this model: {difference}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        take_weights(module, weights)
    assert_same(copy_of(module), before)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (  # a head alone: nothing of the old weights would be kept
            nn.Sequential(nn.Linear(4, 3)),
            nn.Sequential(nn.Linear(4, 2)),
            "'0.weight' is 3x4 there and 2x4 here",
        ),
        (
            nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 1, bias=False)),
            nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)),
            "'1.bias' is missing",
        ),
        (
            nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)),
            nn.Sequential(nn.Linear(4, 3), nn.Linear(6, 2)),
            "'1.weight' is 2x3 there and 2x6 here",
        ),
    ],
)
def test_a_head_must_be_the_same_but_for_its_outputs_and_not_be_all(
    old: nn.Module, new: nn.Module, fault: str, tmp_path: Path
) -> None:
    save_file(old.state_dict(), tmp_path / "a.safetensors")
    with pytest.raises(ConfigError, match=f"do not fit this model: {re.escape(fault)}$"):
        take_weights(new, tmp_path / "a.safetensors")


def test_a_path_that_is_not_there_and_a_pickle_are_refused(tmp_path: Path) -> None:
    sentence = f"from must be a run or a .safetensors file: there is no {tmp_path / 'a'}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        take_weights(Conv(), tmp_path / "a")
    (tmp_path / "a.pth").touch()
    with pytest.raises(ConfigError, match=r"a.pth is a pickle"):
        take_weights(Conv(), tmp_path / "a.pth")


def test_what_is_to_be_known_of_old_weights_is_told(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings: dict[str, Any] = {"start_from": weights, "epochs": 1}
    nw.fit(Conv(outputs=2), images(classes=2), out=tmp_path / "loud", **settings)
    assert "note: new head: fc has 2 outputs instead of 3\n" in capsys.readouterr().err
    nw.fit(Conv(outputs=2), images(classes=2), out=tmp_path / "quiet", quiet=True, **settings)
    assert capsys.readouterr().err == ""


def images(factor: float = 1.0, channels: int = 1, classes: int = 3) -> Data:
    random = torch.Generator().manual_seed(0)
    pixels = torch.randint(256, (12, channels, 4, 4), generator=random, dtype=torch.uint8)
    targets = [row % classes for row in range(12)]
    _, data, _ = resolve("mlp", (pixels.numpy(), targets), factor=factor)
    return data


def named(classes: str) -> Data:
    """Images of three classes with these names."""
    data = images()
    return replace(data, spec=replace(data.spec, class_names=tuple(classes)))


def test_pixels_on_another_scale_are_told(tmp_path: Path) -> None:
    run = tmp_path / "run"
    nw.fit("mlp", images(1 / 255), hidden=(3,), epochs=1, out=run, quiet=True)
    (told,) = compare_scaling(run, images())
    assert (
        told
        == f"pixels are scaled differently from {run}: by (x - 0) / 255 there, by (x - 0) / 1 here"
    )
    assert compare_scaling(run, images(1 / 250)) == ()
    assert compare_scaling(run, images(channels=2)) == ()
    assert compare_scaling(run, prepare("mlp", "moons").data) == ()
    assert compare_scaling(tmp_path / "weights.safetensors", images()) == ()


def test_frozen_parts_of_an_old_run_stay_its_own_bit_for_bit(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"hidden": (6, 5), "quiet": True, "batch_norm": True, "epochs": 2}
    old = nw.fit("mlp", "moons", out=tmp_path / "old", **settings)
    tuned = nw.fit(
        "mlp",
        "moons",
        start_from=old,
        freeze="hidden.0",
        layer_decay=0.5,
        out=tmp_path / "new",
        **settings,
    )
    before, after = copy_of(old.model), copy_of(tuned.model)
    same = [name for name in before if torch.equal(before[name], after[name])]
    assert same == [name for name in before if name.startswith("hidden.0.")]
    config = yaml.safe_load((tmp_path / "new" / "config.yaml").read_text())
    assert (config["train"]["freeze"], config["train"]["layer_decay"]) == ("hidden.0", 0.5)


def test_whatever_trains_a_recipe_takes_its_first_weights(tmp_path: Path) -> None:
    recipe, data, module = resolve("mlp", "moons", epochs=1, hidden=(4,))
    nowhere = replace(recipe, start_from=str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match=r"^from must be a run or a .safetensors file"):
        train(put_together(nowhere, data, module), keep_folder=False, quiet=True)


def test_a_model_with_a_rule_of_its_own_takes_no_first_weights(moons_run: nw.Run) -> None:
    sentence = "lda has its own learning rule and cannot start from given weights"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        nw.fit("lda", "moons", start_from=moons_run, quiet=True)


def test_weights_that_are_not_finite_are_refused_by_name(tmp_path: Path) -> None:
    module = prepare("mlp", "moons", hidden=(4,)).model
    spoilt = {name: weight.clone() for name, weight in module.state_dict().items()}
    spoilt["head.bias"][0] = torch.nan
    save_file(spoilt, tmp_path / "spoilt.safetensors")
    with pytest.raises(DataError, match=r"^the weights 'head.bias' of .*spoilt.safetensors"):
        take_weights(module, tmp_path / "spoilt.safetensors")


def test_a_run_that_goes_on_keeps_where_it_came_from(moons_run: nw.Run, tmp_path: Path) -> None:
    settings: dict[str, Any] = {**moons_run.config["model"], "quiet": True}
    settings.pop("name")
    nw.fit("mlp", "moons", start_from=moons_run, epochs=1, out=tmp_path / "a", **settings)
    origin = nw.open_run(tmp_path / "a").config["from"]
    again = nw.fit("mlp", "moons", resume=tmp_path / "a", epochs=2, **settings)
    assert again.results["epochs"] == 2
    assert nw.open_run(tmp_path / "a").config["from"] == origin == str(moons_run.folder)


def text_file(folder: Path, text: str) -> str:
    (folder / "book.txt").write_text(text * 30, encoding="utf-8")
    return str(folder / "book.txt")


def of_text(folder: Path, text: str = "the quick fox\n", **settings: Any) -> nw.Run:
    data = nw.data.load("text", path=text_file(folder, text), window=6)
    small = {"hidden": 4, "embedding": 4, "epochs": 1, "quiet": True}
    return nw.fit("gru", data, **{**small, "batch_size": 8, **settings})


def test_a_state_that_was_carried_is_not_taken_along(tmp_path: Path) -> None:
    old = of_text(tmp_path, carry_state=True, out=tmp_path / "old")
    assert old.model.state_dict()["carried"].shape == (8, 4)
    new: dict[str, Any] = {"start_from": tmp_path / "old", "lr": 1e-12, "out": None}
    carrying: dict[str, Any] = {"carry_state": True, "batch_size": 5}
    for settings, rows in ((new, 0), (new | carrying, 5)):
        run = of_text(tmp_path, **settings)
        assert len(run.model.state_dict()["carried"]) == rows
        for name, weight in old.model.named_parameters():
            torch.testing.assert_close(run.model.get_parameter(name), weight, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "there", "here"),
    [
        ("gur dhvpx sbk\n", "'c', 'e' ...", "'b', 'd' ..."),  # as many others
        ("the quick fox!\n", "'c', 'e' ...", "'!', 'c' ..."),
        ("the quick foxz\n", "none", "'z'"),
    ],
)
def test_a_run_with_other_tokens_is_refused(
    text: str, there: str, here: str, tmp_path: Path
) -> None:
    of_text(tmp_path, out=tmp_path / "old")
    sentence = (
        f"the weights of {tmp_path / 'old'} do not fit these data: the first tokens that differ "
        f"are {there} there and {here} here"
    )
    with pytest.raises(ConfigError) as refusal:
        of_text(tmp_path, text, start_from=tmp_path / "old", out=None)
    assert str(refusal.value) == sentence
