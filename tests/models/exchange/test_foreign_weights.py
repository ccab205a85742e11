"""Weights of other libraries: their names become ours, or the first that does not fit is told."""

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.exchange.bert_weights import to_bert
from netwright.models.exchange.foreign_weights import read_foreign_weights
from netwright.models.exchange.t5_weights import to_t5
from netwright.models.exchange.vit_weights import to_vit
from netwright.models.model import Model
from netwright.models.transformers.bert import BERT, BERTConfig
from netwright.models.vision.resnet import ResNet18, ResNet18Config
from netwright.models.vision.vgg import VGG11, VGG11Config
from netwright.models.vision.vit import ViT, ViTConfig
from netwright.recipes.saved.start_from import take_weights
from tests.models.exchange.test_t5_weights import model_of as t5_of

SPEC = DataSpec(inputs="image", input_shape=(3, 32, 32), target="class", num_outputs=3)


def resnet(seed: int) -> Model:
    with seeded(seed):
        model: Model = ResNet18.build(ResNet18Config(width=2), SPEC)
    return model


def bert_of(inputs: Literal["masked", "tokens"]) -> BERT:
    spec = DataSpec(
        inputs=inputs,
        input_shape=(7,),
        target="tokens" if inputs == "masked" else "class",
        num_outputs=9 if inputs == "masked" else 3,
        vocab_size=9 if inputs == "masked" else 8,
    )
    return BERT.build(BERTConfig(layers=1, heads=2, width=4, context=12), spec)


def vgg(seed: int) -> Model:
    with seeded(seed):
        model: Model = VGG11.build(VGG11Config(width=1, hidden=4), SPEC)
    return model


def assert_same_outputs(first: nn.Module, second: nn.Module) -> None:
    x = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    assert torch.equal(first.eval()(x), second.eval()(x))


@pytest.mark.parametrize("prefix", ["", "module."])
def test_weights_with_our_names_come_back_as_they_are(tmp_path: Path, prefix: str) -> None:
    theirs, ours = resnet(0), resnet(1)
    theirs(torch.randn(4, 3, 32, 32))  # running statistics leave their start
    path = tmp_path / "weights.safetensors"
    save_file({f"{prefix}{name}": value for name, value in theirs.state_dict().items()}, path)
    ours.load_state_dict(read_foreign_weights(path, ours))
    assert_same_outputs(theirs, ours)


def test_counts_of_batches_may_be_absent(tmp_path: Path) -> None:
    theirs, ours = resnet(0), resnet(1)
    path = tmp_path / "old.safetensors"
    state = theirs.state_dict()
    save_file({name: state[name] for name in state if "num_batches" not in name}, path)
    weights = read_foreign_weights(path, ours)
    assert list(weights) == list(state)
    ours.load_state_dict(weights)
    assert_same_outputs(theirs, ours)


def timm_state(model: Model) -> dict[str, Tensor]:
    """The weights of a VGG as timm keeps them: the dense layers see 7x7 and 1x1 windows."""
    state = model.state_dict()
    first, second, last = (state.pop(f"classifier.{place}.weight") for place in (0, 3, 6))
    biases = [state.pop(f"classifier.{place}.bias") for place in (0, 3, 6)]
    return {
        **state,
        "pre_logits.fc1.weight": first.reshape(4, 8, 7, 7),
        "pre_logits.fc1.bias": biases[0],
        "pre_logits.fc2.weight": second.reshape(4, 4, 1, 1),
        "pre_logits.fc2.bias": biases[1],
        "head.fc.weight": last,
        "head.fc.bias": biases[2],
    }


def test_the_windows_of_timms_vgg_become_dense_layers(tmp_path: Path) -> None:
    theirs, ours = vgg(0), vgg(1)
    path = tmp_path / "timm.safetensors"
    save_file(timm_state(theirs), path)
    ours.load_state_dict(read_foreign_weights(path, ours))
    assert_same_outputs(theirs, ours)


def test_shapes_are_those_of_the_file(tmp_path: Path) -> None:
    path, state = tmp_path / "weights.safetensors", resnet(0).state_dict()
    save_file({**state, "fc.weight": torch.zeros(7, 16), "fc.bias": torch.zeros(7)}, path)
    weights = read_foreign_weights(path, resnet(1))
    assert weights["fc.weight"].shape == (7, 16)


@pytest.mark.parametrize(
    ("taken", "given", "fault"),
    [
        (["fc.weight"], ["head.weight"], "'fc.weight' is missing, 'head.weight' is unknown"),
        (["conv1.weight", "fc.bias"], [], "'conv1.weight' is missing"),
        ([], ["module.aux.bias", "z"], "'module.aux.bias' is unknown"),
        (["fc.bias"], ["head.fc.bias"], "'fc.bias' is missing, 'head.fc.bias' is unknown"),
    ],
)
def test_names_that_do_not_fit_are_refused_by_the_first(
    tmp_path: Path, taken: list[str], given: list[str], fault: str
) -> None:
    path, state = tmp_path / "weights.safetensors", resnet(0).state_dict()
    kept = {name: value for name, value in state.items() if name not in taken}
    save_file({**kept, **{name: torch.zeros(1) for name in given}}, path)
    with pytest.raises(ConfigError) as refused:
        read_foreign_weights(path, resnet(1))
    assert str(refused.value) == f"the names in {path} do not fit this model: {fault}"


@pytest.mark.parametrize("ending", ["pth", "PT", "bin", "ckpt"])
def test_a_pickle_is_refused_without_a_look_at_it(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"absent.{ending}"
    start = f"{path} is a pickle, which may run code when it is loaded; if you trust it, convert"
    with pytest.raises(ConfigError, match=f"^{re.escape(start)} it with: python -c "):
        read_foreign_weights(path, resnet(0))


@pytest.mark.parametrize("nested", [False, True])
def test_the_line_that_converts_a_pickle_does_so(
    tmp_path: Path, nested: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, state = tmp_path / "their weights.pth", {"w": torch.arange(6.0).reshape(2, 3).T}
    torch.save({"state_dict": state} if nested else state, path)
    with pytest.raises(ConfigError) as refused:
        read_foreign_weights(path, resnet(0))
    _, _, line = str(refused.value).partition(" with: ")
    python, flag, code, *files = shlex.split(line)
    assert (python, flag) == ("python", "-c")
    monkeypatch.setattr(sys, "argv", ["-c", *files])
    exec(code, {})
    assert torch.equal(load_file(tmp_path / "their weights.safetensors")["w"], state["w"])


@pytest.mark.parametrize("content", [b"", b"not safetensors at all", None])
def test_a_file_that_cannot_be_read_is_refused_by_name(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "weights.safetensors"
    if content is not None:
        path.write_bytes(content)
    start = f"^{re.escape(str(path))} is not a readable safetensors file: "
    with pytest.raises(DataError, match=start):
        read_foreign_weights(path, resnet(0))


@pytest.mark.parametrize(
    ("model", "theirs"),
    [
        (lambda: t5_of("relu"), to_t5),
        (lambda: t5_of("gated-gelu"), to_t5),
        (lambda: ViT.build(ViTConfig(layers=1, heads=2, width=4), SPEC), to_vit),
        (lambda: bert_of("masked"), to_bert),
        (lambda: bert_of("tokens"), to_bert),
    ],
)
def test_transformers_have_the_names_of_the_library_transformers(
    tmp_path: Path,
    model: Callable[[], Model],
    theirs: Callable[[dict[str, Tensor]], dict[str, Tensor]],
) -> None:
    ours = model()
    written = {name: value.clone() for name, value in theirs(ours.state_dict()).items()}
    assert written.keys() != ours.state_dict().keys()
    save_file(written, tmp_path / "model.safetensors")
    read = read_foreign_weights(tmp_path / "model.safetensors", model())
    assert read.keys() == ours.state_dict().keys()
    assert all(torch.equal(read[name], value) for name, value in ours.state_dict().items())


def test_a_pretrained_bert_of_a_file_is_fine_tuned(tmp_path: Path) -> None:
    pretrained, classifier = bert_of("masked"), bert_of("tokens")
    save_file(
        {name: value.clone() for name, value in to_bert(pretrained.state_dict()).items()},
        tmp_path / "model.safetensors",
    )
    drawn = classifier.state_dict()["head.weight"].clone()
    (told,) = take_weights(classifier, tmp_path / "model.safetensors")
    assert told == "new: head; not taken: pretraining"
    found, wanted = classifier.state_dict(), pretrained.state_dict()
    assert torch.equal(found["wte.weight"], wanted["wte.weight"])
    assert torch.equal(found["pooler.weight"], wanted["pooler.weight"])
    assert torch.equal(found["head.weight"], drawn)
