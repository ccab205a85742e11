"""Odd modules of a user's own: trained where they can be, refused in one sentence where not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import NetwrightError
from netwright.core.seeding import seeded
from netwright.recipes.fitting.own_module import has_overlap
from tests.repetition import slow_but
from tests.train.toy_runs import FEATURES, OUTPUTS, toy_data

SHORT: dict[str, Any] = {"epochs": 2, "batch_size": 8, "device": "cpu", "quiet": True}


class Own(nn.Module):
    """A forward pass over parts that are given."""

    def __init__(self, run: Callable[[Any, Tensor], Any], **parts: Any) -> None:
        super().__init__()
        self.run = run
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x: Tensor) -> Any:
        return self.run(self, x)


class Remembering(nn.Linear):
    """Keeps something beside its weights."""

    def __init__(self) -> None:
        super().__init__(FEATURES, OUTPUTS)

    def get_extra_state(self) -> Any:
        return {"calls": 3}


class BrokenSlope(torch.autograd.Function):
    """The identity, which has no way back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        raise ValueError("my slope is wrong")


def broken(x: Tensor) -> Any:
    return BrokenSlope.apply(x)  # type: ignore[no-untyped-call]


def without_units() -> nn.Module:
    with seeded(0):
        return nn.Sequential(nn.Linear(FEATURES, 0), nn.Linear(0, OUTPUTS))


def dense() -> nn.Linear:
    with seeded(0):
        return nn.Linear(FEATURES, OUTPUTS)


def complex_net() -> nn.Module:
    with seeded(0):
        weight = nn.Parameter(torch.randn(OUTPUTS, FEATURES, dtype=torch.complex64))
    return Own(lambda s, x: (s.w @ x.T.to(torch.complex64)).abs().T, w=weight)


def embedded(*, sparse: bool) -> nn.Module:
    with seeded(0):
        table, head = nn.Embedding(2, 4, sparse=sparse), nn.Linear(4 * FEATURES, OUTPUTS)
    return Own(lambda s, x: s.head(s.table((x > 0).long()).flatten(1)), table=table, head=head)


def with_buffers() -> nn.Module:
    module = Own(lambda s, x: s.a(x) * s.times, a=dense())
    module.register_buffer("times", torch.tensor(2))
    module.register_buffer("nothing", torch.zeros(0))
    return module


def tied() -> nn.Module:
    with seeded(0):
        first, second = nn.Linear(FEATURES, FEATURES), nn.Linear(FEATURES, FEATURES)
    second.weight = first.weight
    return nn.Sequential(first, second, dense())


def complex_layers() -> nn.Module:
    with seeded(0):
        layers = [
            nn.Linear(FEATURES, 4, dtype=torch.complex64),
            nn.Linear(4, OUTPUTS, dtype=torch.complex64),
        ]
    return Own(lambda s, x: s.b(s.a(x.to(torch.complex64))).abs(), a=layers[0], b=layers[1])


TRAINED: dict[str, Callable[[], nn.Module]] = {
    "a parameter without elements": lambda: Own(
        lambda s, x: s.a(x) + s.p.sum(), a=dense(), p=nn.Parameter(torch.zeros(0, 3))
    ),
    "a layer without units": without_units,
    "complex weights": complex_net,
    "complex layers": complex_layers,
    "an embedding": lambda: embedded(sparse=False),
    "buffers of whole numbers and of none": with_buffers,
    "half precision inside": lambda: Own(lambda s, x: s.a(x.bfloat16()), a=dense().bfloat16()),
    "double precision inside": lambda: Own(lambda s, x: s.a(x.double()), a=dense().double()),
    "tied weights": tied,
    "a weight that is one number": lambda: Own(
        lambda s, x: x * s.p, p=nn.Parameter(torch.tensor(1.0))
    ),
    "a weight norm": lambda: nn.utils.parametrizations.weight_norm(dense()),
}


@pytest.mark.parametrize("name", slow_but(["an embedding", "a weight norm"], TRAINED))
@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors:UserWarning")
def test_odd_modules_are_trained_saved_opened_and_gone_on_with(tmp_path: Path, name: str) -> None:
    data, build = toy_data(rows=40), TRAINED[name]
    run = nw.fit(build(), data, out=tmp_path / "run", **SHORT)
    opened = nw.open_run(tmp_path / "run", build())
    for one, other in zip(run.model.parameters(), opened.model.parameters(), strict=True):
        assert torch.equal(one, other)
    stopped = {**SHORT, "out": tmp_path / "parts"}
    nw.fit(build(), data, max_steps=3, **stopped)
    again = nw.fit(build(), data, resume="auto", **stopped)
    for one, other in zip(run.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert "frozen-part" not in [finding["illness"] for finding in run.results["findings"]]
    nw.doctor(data, model=build(), device="cpu")


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "sparse gradients": (
        lambda: embedded(sparse=True),
        "the gradient of 'table.weight' is sparse, wanted a dense one: build the embedding without "
        "sparse=True",
    ),
    "a backward pass that fails": (
        lambda: Own(lambda s, x: broken(s.a(x)), a=dense()),
        "the gradient of the loss cannot be computed: my slope is wrong",
    ),
    "an output without a gradient": (
        lambda: Own(lambda s, x: s.a(x).detach(), a=dense()),
        "the loss does not depend on any parameter of the model: look in forward for detach(), "
        "no_grad() and argmax(), and for layers that are not used",
    ),
    "whole numbers": (
        lambda: Own(lambda s, x: s.a(x).long(), a=dense()),
        "the loss does not depend on any parameter of the model",
    ),
    "complex outputs": (
        lambda: Own(lambda s, x: s.a(x) * 1j, a=dense()),
        "the model's output must be real-valued, got torch.complex64: return its real part",
    ),
    "weights without numbers": (
        lambda: nn.Linear(FEATURES, OUTPUTS, device="meta"),
        "'weight' has no data, it is on the device 'meta': call module.to_empty(device='cpu')",
    ),
    "a state that is no tensor": (
        Remembering,
        "'_extra_state' of the module's state_dict is not a tensor, and checkpoints hold tensors",
    ),
    "an expanded weight": (
        lambda: Own(lambda s, x: x @ s.p, p=nn.Parameter(torch.ones(1, 3).expand(3, 3))),
        "'p' has several elements in one memory location, as expand() creates them, and cannot be "
        "written to: call clone() on it",
    ),
    "two precisions": (
        lambda: nn.Sequential(dense(), dense().double()),
        "; inputs are torch.float32: call model.to(torch.float32), or convert them in forward",
    ),
    "frozen everything": (
        lambda: dense().requires_grad_(False),
        "the model has no parameters to learn",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused_in_a_sentence_and_leave_nothing(tmp_path: Path, name: str) -> None:
    build, sentence = REFUSED[name]
    with pytest.raises(NetwrightError) as refused:
        nw.fit(build(), toy_data(rows=40), out=tmp_path / "run", **SHORT)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.filterwarnings("ignore:`torch.jit.trace` is deprecated")
@pytest.mark.filterwarnings("ignore:`torch.jit.trace_method` is deprecated")
def test_traced_modules_are_refused() -> None:
    traced: Any = torch.jit.trace(dense(), torch.zeros(1, FEATURES))  # type: ignore[no-untyped-call]
    with pytest.raises(NetwrightError, match=r"give the nn\.Module that it was made from"):
        nw.fit(traced, toy_data(), **SHORT)


@pytest.mark.parametrize(
    "setting", [{"clip_value": 1.0}, {"l1": 0.1}, {"precision": "fp16-mixed"}], ids=str
)
def test_what_complex_weights_cannot_have_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(NetwrightError, match="is for real weights, 'w' is complex"):
        nw.fit(complex_net(), toy_data(), **SHORT, **setting)


@pytest.mark.parametrize(
    "setting", [{"clip_norm": 1.0}, {"l2": 0.1}, {"average": "equal"}], ids=str
)
def test_what_complex_weights_can_have_is_not(tmp_path: Path, setting: dict[str, Any]) -> None:
    assert nw.fit(complex_net(), toy_data(), out=tmp_path / "run", **SHORT, **setting)


def test_the_mode_of_each_part_is_as_it_was(tmp_path: Path) -> None:
    model = nn.Sequential(nn.BatchNorm1d(FEATURES), dense())
    model[0].eval()
    nw.doctor(toy_data(), model=model, device="cpu")
    assert [part.training for part in model] == [False, True]


def test_overlap_is_told_from_memory() -> None:
    assert has_overlap(torch.ones(1).expand(5))
    assert not has_overlap(torch.ones(3, 2).T)
    assert not has_overlap(torch.ones(1, 2).expand(1, 2))
    assert not has_overlap(nn.LazyLinear(2).weight)
