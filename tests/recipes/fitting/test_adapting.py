"""Which modules are adapted, and which part of an output is taken; others stay as they are."""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import netwright as nw
from netwright.core.adapted_module import AdaptedModule, parts_of_output
from netwright.core.errors import ConfigError, ShapeError
from netwright.core.outputs import Output
from netwright.core.seeding import seeded
from netwright.recipes.fitting.adapting import adapt
from netwright.recipes.plan.sources import load_source
from tests.repetition import for_each, slow_but
from tests.train.toy_runs import FEATURES, OUTPUTS, copy_of, toy_data

SHORT: dict[str, Any] = {"epochs": 2, "batch_size": 8, "device": "cpu", "quiet": True}
Pair = namedtuple("Pair", ["hidden", "scores"])


@dataclass
class Said:
    hidden: Tensor
    pred: Tensor


class Net(nn.Module):
    """A layer, a norm that counts and dropout; what it returns is up to a function."""

    def __init__(self, give: Callable[[Tensor, Tensor], Any], dtype: torch.dtype) -> None:
        super().__init__()
        self.give = give
        with seeded(0):
            self.fc, self.norm = nn.Linear(FEATURES, OUTPUTS), nn.BatchNorm1d(FEATURES)
        self.drop = nn.Dropout(0.2)
        self.to(dtype)

    def forward(self, x: Tensor) -> Any:
        hidden = self.norm(x)[:, :2]
        return self.give(self.fc(self.drop(self.norm(x))), hidden)


GIVES: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "tuple": lambda logits, hidden: (logits, hidden),
    "list": lambda logits, hidden: [hidden, logits],
    "dict": lambda logits, hidden: {"hidden": logits, "logits": logits},
    "dict of one": lambda logits, hidden: {"anything": logits, "length": 3},
    "dataclass": lambda logits, hidden: Said(hidden, logits),
    "named tuple": lambda logits, hidden: Pair(hidden, logits),
}


def net(give: str, dtype: torch.dtype = torch.float32) -> Net:
    return Net(GIVES.get(give, lambda logits, hidden: logits), dtype)


def test_a_module_from_tensor_to_tensor_stays_itself_and_as_it_was() -> None:
    module = net("tensor")
    before, drawn = copy_of(module), torch.get_rng_state()
    assert adapt(module, toy_data()) is module
    for name, tensor in copy_of(module).items():
        assert torch.equal(tensor, before[name])
    assert torch.equal(torch.get_rng_state(), drawn)
    assert module.training


def test_so_do_outputs_with_auxiliary_heads_lazy_layers_and_what_fails() -> None:
    for module in (
        Net(lambda logits, hidden: Output(logits=logits, aux=(logits,)), torch.float32),
        nn.LazyLinear(OUTPUTS),
        nn.Linear(FEATURES + 1, OUTPUTS),
    ):
        assert adapt(module, toy_data()) is module


@for_each("give", GIVES)
def test_the_prediction_is_found_by_name_or_as_the_only_one(give: str) -> None:
    module = net(give).eval()
    adapted = adapt(module, toy_data())
    x = toy_data().train.inputs
    assert isinstance(adapted, AdaptedModule)
    assert torch.equal(adapted(x), net("tensor").eval()(x))


def test_an_output_that_differs_in_training_is_seen() -> None:
    """As torchvision's Inception and GoogLeNet, which have auxiliary heads in training only."""

    class Inception(nn.Linear):
        def forward(self, x: Tensor) -> Any:
            logits = super().forward(x)
            return {"logits": logits, "aux": logits} if self.training else logits

    module = Inception(FEATURES, OUTPUTS)
    adapted = adapt(module, toy_data())
    x = toy_data().train.inputs
    assert torch.equal(adapted(x), adapted.eval()(x))


def test_double_precision_is_adapted_and_whole_numbers_are_not() -> None:
    assert adapt(net("tensor", torch.float64), toy_data())(torch.ones(4, FEATURES)).dtype == (
        torch.float64
    )


@for_each(
    ("give", "part", "sentence"),
    [
        (
            lambda logits, hidden: (logits, logits * 2),
            None,
            r"a tuple of 0 \(7, 3\), 1 \(7, 3\), and it is not clear which is its prediction: "
            r"name it, as in output=0",
        ),
        (lambda logits, hidden: "text", None, "a tuple, dict or dataclass of tensors, got str"),
        (lambda logits, hidden: {"a": logits}, "b", r"no tensor 'b'; there are 'a' \(7, 3\)"),
        (lambda logits, hidden: logits, "a", "returns one tensor: remove output='a'"),
    ],
)
def test_no_telling_is_refused_with_the_way_out(give: Any, part: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        adapt(Net(give, torch.float32), toy_data(), part)


def test_a_model_of_the_catalog_has_one_output() -> None:
    with pytest.raises(ConfigError, match="mlp returns one tensor: remove output=1"):
        nw.fit("mlp", toy_data(), output=1, **SHORT)


def test_the_part_that_is_named_is_taken() -> None:
    module = Net(lambda logits, hidden: (logits * 0, logits), torch.float32).eval()
    adapted = adapt(module, toy_data(), 1)
    assert adapted(torch.ones(4, FEATURES)).abs().sum() > 0


class Autoencoder(nn.Module):
    """A code of fewer, or as many, numbers; what it returns is up to a function."""

    def __init__(self, give: Callable[..., Any], width: int = 2) -> None:
        super().__init__()
        self.give = give
        with seeded(0):
            self.mean, self.spread = nn.Linear(FEATURES, width), nn.Linear(FEATURES, width)
            self.decoder = nn.Linear(width, FEATURES)

    def forward(self, x: Tensor) -> Any:
        mean, spread = self.mean(x), self.spread(x)
        return self.give(self.decoder(mean), mean, spread)


def unlabelled() -> DataLoader[Any]:
    return DataLoader(TensorDataset(toy_data(rows=16).train.inputs), batch_size=8)


def evidence(output: Any, inputs: Tensor) -> Tensor:
    """The negative evidence lower bound of Kingma & Welling, Auto-Encoding Variational Bayes."""
    recon, mean, spread = output.values() if isinstance(output, dict) else output
    divergence = (mean**2 + spread.exp() - spread - 1).sum(dim=1) / 2
    bound: Tensor = ((recon - inputs) ** 2).sum(dim=1) + divergence
    return bound


@for_each(
    ("give", "part"),
    [
        (lambda recon, mean, spread: (recon, mean, spread), 0),
        (lambda recon, mean, spread: (mean, spread, recon), 2),
        (lambda recon, mean, spread: {"mu": mean, "logvar": spread, "recon": recon}, "recon"),
        (lambda recon, mean, spread: (mean, recon, recon * 2), 1),
        (lambda recon, mean, spread: (spread.mean(), mean, spread), 1),
    ],
)
def test_without_targets_it_is_the_part_of_the_inputs_shape_else_the_first(
    give: Any, part: Any
) -> None:
    data = load_source(unlabelled(), {})[2]
    for own_loss in (True, False):  # a training step of one's own has none
        adapted = adapt(Autoencoder(give), data, gives_whole=own_loss)
        assert isinstance(adapted, AdaptedModule)
        assert adapted.part == part
        assert adapted.gives_whole is own_loss


@for_each("width", [2, FEATURES])
@for_each(
    "give",
    [
        lambda recon, mean, spread: (recon, mean, spread),
        lambda recon, mean, spread: {"recon": recon, "mu": mean, "logvar": spread},
    ],
)
def test_a_loss_without_targets_is_given_all_parts(give: Any, width: int) -> None:
    x, module = toy_data(rows=16).train.inputs, Autoencoder(give, width)
    run = nw.fit(module, unlabelled(), loss=evidence, save=False, **{**SHORT, "batch_size": None})
    with torch.no_grad():
        parts = module(x)
    assert run.results["metrics"]["loss"] == pytest.approx(float(evidence(parts, x).mean()))
    recon = next(iter(parts_of_output(parts).values()))
    assert np.allclose(run.predict(x), recon.numpy(), atol=1e-6)


def test_a_loss_that_wants_all_parts_and_is_given_one_is_told_so() -> None:
    module = Autoencoder(lambda recon, mean, spread: (recon, mean))
    sentence = (
        r"\); it is given the part 0 alone: remove output=0, and it is given all that the mod"
    )
    with pytest.raises(ShapeError, match=sentence):
        nw.fit(module, unlabelled(), loss=evidence, output=0, save=False, quiet=True)


CASES = [(give, kind) for give in ("tensor", *GIVES) for kind in (torch.float32, torch.float64)]


@pytest.mark.parametrize(
    ("give", "dtype"),
    [pytest.param(*case, marks=() if case in CASES[1:4:2] else pytest.mark.slow) for case in CASES],
)
def test_it_trains_goes_on_exactly_and_is_opened(
    tmp_path: Path, give: str, dtype: torch.dtype
) -> None:
    data = toy_data(rows=40, test=8)
    whole = nw.fit(net(give, dtype), data, out=tmp_path / "whole", **SHORT)
    nw.fit(net(give, dtype), data, out=tmp_path / "parts", max_steps=3, **SHORT)
    own = net(give, dtype)
    again = nw.fit(own, data, out=tmp_path / "parts", resume="auto", **SHORT)
    for name, tensor in copy_of(whole.model).items():
        assert torch.equal(own.state_dict()[name], tensor)
    assert again.results["metrics"] == whole.results["metrics"]
    opened = nw.open_run(tmp_path / "whole", net(give, dtype))
    x = data.train.inputs
    assert torch.equal(opened.predictions(x), whole.predictions(x))


@pytest.mark.parametrize("give", slow_but([], ["dict", "tensor"]))
def test_its_report_has_its_name(tmp_path: Path, give: str) -> None:
    run = nw.fit(net(give, torch.float64), toy_data(rows=40), out=tmp_path / "run", **SHORT)
    assert "<h1>Net on arrays</h1>" in run.report().read_text(encoding="utf-8")
