"""Building an optimizer: settings, presets, kernels, what is learned, and every refusal."""

import inspect
import re
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.card import Card
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import Kernel, OptimizerEntry, build_optimizer
from tests.repetition import for_each

CARD = Card(sentence="It steps.", formula="w", source="here")


def model() -> nn.Module:
    return nn.Linear(2, 1)


def group(name: str, **settings: Any) -> dict[str, Any]:
    optimizer = build_optimizer(OPTIMIZERS.load(name), model(), **settings)
    (only,) = optimizer.param_groups
    return only


def test_rate_is_the_entrys_unless_given() -> None:
    assert group("adam")["lr"] == OPTIMIZERS.load("adam").lr
    assert group("adam", lr=0.5)["lr"] == 0.5
    assert group("adam", lr=0.0)["lr"] == 0.0


def test_options_override_presets() -> None:
    assert group("momentum")["momentum"] == 0.9
    assert group("momentum", options={"momentum": 0.5})["momentum"] == 0.5
    assert group("nesterov")["nesterov"] is True
    assert group("sgd")["momentum"] == 0


def test_weight_decay_is_what_was_asked_and_not_torchs_default() -> None:
    assert group("adamw")["weight_decay"] == 0.0
    assert group("adamw", weight_decay=0.3)["weight_decay"] == 0.3


@pytest.mark.parametrize("eps", ["1e-4", 1e-4])
def test_options_from_yaml_become_what_torch_wants(eps: Any) -> None:
    # YAML has lists, no tuples, and reads 1e-4 as text.
    settings = group("adam", options={"betas": [0.8, "0.9"], "eps": eps})
    assert settings["betas"] == (0.8, 0.9)
    assert settings["eps"] == 1e-4
    assert group("lbfgs", options={"line_search_fn": "strong_wolfe"})["line_search_fn"]


def has_kernels(name: str) -> bool:
    return "foreach" in inspect.signature(OPTIMIZERS.load(name).make).parameters


@for_each("name", [name for name in OPTIMIZERS if has_kernels(name)])
def test_kernel_is_fused_where_torch_has_it_and_foreach_elsewhere(name: str) -> None:
    entry = OPTIMIZERS.load(name)
    automatic, many = group(name), group(name, kernel="foreach")
    if entry.fused:
        assert automatic["fused"] is True
        assert group(name, kernel="fused")["fused"] is True
        assert many["foreach"] is True
        assert not many["fused"]
    else:
        assert automatic["foreach"] is many["foreach"] is True
        assert not automatic.get("fused")


@for_each("name", [name for name in OPTIMIZERS if OPTIMIZERS.load(name).fused])
def test_kernels_agree(name: str) -> None:
    kernels: tuple[Kernel, ...] = ("fused", "foreach")
    weights = []
    for kernel in kernels:
        with seeded(0):
            net = nn.Linear(3, 2)
        optimizer = build_optimizer(OPTIMIZERS.load(name), net, weight_decay=0.1, kernel=kernel)
        for _ in range(5):
            optimizer.zero_grad()
            net(torch.ones(1, 3)).square().sum().backward()
            optimizer.step()
        weights.append(net.weight.detach())
    torch.testing.assert_close(weights[0], weights[1])


def test_adagrad_is_not_fused_since_torch_has_no_kernel_for_cuda() -> None:
    """Torch 2.11 refuses the first step on a GPU; seen on an H200."""
    assert not OPTIMIZERS.load("adagrad").fused


def test_only_what_is_to_be_learned_is_given() -> None:
    net = nn.Linear(2, 1)
    net.bias.requires_grad_(False)
    optimizer = build_optimizer(OPTIMIZERS.load("sgd"), net)
    (learned,) = optimizer.param_groups[0]["params"]
    assert learned is net.weight


def test_options_are_those_of_torchs_class_without_ours() -> None:
    assert OPTIMIZERS.load("sgd").options() == ["momentum", "dampening", "nesterov"]
    assert "lr" not in OPTIMIZERS.load("adam").options()
    assert OPTIMIZERS.load("adam").options() == ["betas", "eps", "amsgrad"]
    assert "decoupled_weight_decay" not in OPTIMIZERS.load("nadam").options()


@for_each(
    ("name", "settings", "sentence"),
    [
        (
            "adam",
            {"options": {"beats": 1}},
            "unknown option 'beats' of Adam; did you mean 'betas'?",
        ),
        (
            "sgd",
            {"options": {"zzz": 1}},
            "unknown option 'zzz' of SGD; there are momentum, dampening, nesterov",
        ),
        (
            "sgd",
            {"options": {"lr": 1}},
            "lr is not an option of SGD: set train.lr",
        ),
        (
            "lbfgs",
            {"options": {"weight_decay": 0.1}},
            "weight_decay is not an option of LBFGS: set train.weight_decay",
        ),
        (
            "hessian-free",
            {"options": {"cg_steps": 0}},
            "HessianFree: cg_steps must be positive, got 0",
        ),
        ("hessian-free", {"options": {"tol": 0}}, "HessianFree: tol must be positive, got 0"),
        ("svrg", {"options": {"period": 0}}, "SVRG: period must be at least 1, got 0"),
        ("lbfgs", {"weight_decay": 0.1}, "LBFGS has no weight_decay, got 0.1"),
        ("lbfgs", {"kernel": "fused"}, "LBFGS has no fused kernel; use kernel 'foreach'"),
        ("rmsprop", {"kernel": "fused"}, "RMSprop has no fused kernel; use kernel 'foreach'"),
        ("sgd", {"lr": -1.0}, "SGD: Invalid learning rate: -1.0"),
        ("adam", {"lr": float("nan")}, "Adam: Invalid learning rate: nan"),
        (
            "nesterov",
            {"options": {"momentum": 0}},
            "SGD: Nesterov momentum requires a momentum and zero dampening",
        ),
        (
            "adam",
            {"options": {"betas": [0.9, 1.5]}},
            "Adam: Invalid beta parameter at index 1: 1.5",
        ),
    ],
)
def test_refuses_in_one_sentence(name: str, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        group(name, **settings)


@for_each(
    ("name", "option", "value", "sentence"),
    [
        ("adam", "betas", [0.9], "betas of Adam must be 2 numbers, got [0.9]"),
        ("adam", "betas", 3, "betas of Adam must be 2 numbers, got 3"),
        ("adam", "betas", "fast", "betas of Adam must be 2 numbers, got 'fast'"),
        ("adam", "betas", None, "betas of Adam must be 2 numbers, got None"),
        ("nadam", "betas", ["a", 0.9], "betas of NAdam must be 2 numbers, got ['a', 0.9]"),
        ("lion", "betas", 0.9, "betas of Lion must be 2 numbers, got 0.9"),
        ("lion", "betas", [0.9], "betas of Lion must be 2 numbers, got [0.9]"),
        ("muon", "adam_betas", [0.9], "adam_betas of Muon must be 2 numbers, got [0.9]"),
        (
            "muon",
            "adam_betas",
            (0.9,) * 3,
            "adam_betas of Muon must be 2 numbers, got (0.9, 0.9, 0.9)",
        ),
        ("muon", "ns_steps", 2.5, "ns_steps of Muon must be a whole number, got 2.5"),
        ("svrg", "period", 2.5, "period of SVRG must be a whole number, got 2.5"),
        ("svrg", "period", True, "period of SVRG must be a whole number, got True"),
        (
            "hessian-free",
            "cg_steps",
            "abc",
            "cg_steps of HessianFree must be a whole number, got 'abc'",
        ),
        ("hessian-free", "tol", "x", "tol of HessianFree must be a finite number, got 'x'"),
        ("sgd", "momentum", float("nan"), "momentum of SGD must be a finite number, got nan"),
        ("sgd", "nesterov", 1, "nesterov of SGD must be true or false, got 1"),
        ("lbfgs", "max_eval", "x", "max_eval of LBFGS must be a whole number or none, got 'x'"),
        (
            "lbfgs",
            "line_search_fn",
            "armijo",
            "line_search_fn of LBFGS must be 'strong_wolfe' or none, got 'armijo'",
        ),
        (
            "muon",
            "adjust_lr_fn",
            5,
            "Muon: adjust_lr_fn must be 'original' or 'match_rms_adamw', got 5",
        ),
    ],
)
def test_an_option_of_another_kind_is_refused_in_one_sentence(
    name: str, option: str, value: Any, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        group(name, options={option: value})


@for_each("name", OPTIMIZERS)
def test_every_option_takes_its_own_default_and_whole_numbers_where_reals_go(name: str) -> None:
    entry = OPTIMIZERS.load(name)
    known = inspect.signature(entry.make).parameters
    build_optimizer(entry, model(), options={key: known[key].default for key in entry.options()})
    assert group("sgd", options={"momentum": 0.5})["momentum"] == 0.5  # torch's default is a 0
    assert group("svrg", options={"period": "7"})["period"] == 7
    assert group("lbfgs", options={"max_eval": 3, "tolerance_grad": 0})["max_eval"] == 3


def test_a_model_without_parameters_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^the model has no parameters to learn$"):
        build_optimizer(OPTIMIZERS.load("adam"), nn.ReLU())


def test_anybodys_torch_optimizer_can_be_an_entry() -> None:
    entry = OptimizerEntry(make=torch.optim.Rprop, lr=0.01, card=CARD)
    optimizer = build_optimizer(entry, model(), options={"etas": [0.4, 1.3]})
    assert isinstance(optimizer, torch.optim.Rprop)
    assert optimizer.param_groups[0]["etas"] == (0.4, 1.3)
    assert optimizer.param_groups[0]["lr"] == 0.01


class Normed(nn.Module):
    """Has a matrix, a kernel, biases and a gain."""

    def __init__(self) -> None:
        super().__init__()
        self.dense, self.kernel = nn.Linear(2, 1), nn.Conv1d(1, 1, 2)
        self.norm = nn.LayerNorm(2)


@pytest.mark.parametrize("weight_decay", [0.1, 0.0])  # resumed runs may raise it from 0
def test_biases_and_gains_can_be_spared_from_weight_decay(weight_decay: float) -> None:
    net = Normed()
    settings: dict[str, Any] = {"weight_decay": weight_decay, "penalize": "weights", "lr": 0.5}
    weights, rest = build_optimizer(OPTIMIZERS.load("adamw"), net, **settings).param_groups
    assert [tensor.ndim for tensor in weights["params"]] == [2, 3]
    assert len(rest["params"]) == 4
    assert all(tensor.ndim == 1 for tensor in rest["params"])
    assert (weights["weight_decay"], rest["weight_decay"]) == (weight_decay, 0.0)
    assert weights["lr"] == rest["lr"] == 0.5


def test_what_is_spared_does_not_shrink() -> None:
    net = nn.Linear(2, 1)
    nn.init.ones_(net.weight)
    nn.init.ones_(net.bias)
    entry = OPTIMIZERS.load("sgd")
    optimizer = build_optimizer(entry, net, lr=0.1, weight_decay=0.5, penalize="weights")
    net.weight.grad, net.bias.grad = torch.zeros(1, 2), torch.zeros(1)
    optimizer.step()
    assert net.weight.tolist() == [[pytest.approx(0.95)] * 2]
    assert net.bias.item() == 1.0


def test_no_empty_group_is_made() -> None:
    net = nn.Linear(2, 1, bias=False)
    settings: dict[str, Any] = {"weight_decay": 0.1, "penalize": "weights"}
    (only,) = build_optimizer(OPTIMIZERS.load("adam"), net, **settings).param_groups
    assert only["weight_decay"] == 0.1
    (only,) = build_optimizer(OPTIMIZERS.load("adam"), nn.LayerNorm(2), **settings).param_groups
    assert only["weight_decay"] == 0.0
    assert group("lbfgs", penalize="weights")["params"]


def test_a_graph_is_asked_for_where_the_class_says_so() -> None:
    class Curious(torch.optim.SGD):
        needs_graph = True

    assert OptimizerEntry(make=Curious, lr=0.1, card=CARD).graph
    assert not OptimizerEntry(make=torch.optim.SGD, lr=0.1, card=CARD).graph


def complex_model() -> nn.Module:
    module = nn.Module()
    module.weight = nn.Parameter(torch.tensor([1 + 1j, 2 - 1j]))
    return module


@for_each("name", ["adam", "adamw", "sgd", "momentum", "nadam"])
def test_complex_weights_take_kernels_that_are_not_fused(name: str) -> None:
    module = complex_model()
    optimizer = build_optimizer(OPTIMIZERS.load(name), module, lr=0.1)
    assert not optimizer.param_groups[0].get("fused")
    (weight,) = module.parameters()
    for _ in range(200):
        optimizer.zero_grad()
        weight.abs().square().sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert float(weight.detach().abs().max()) < 0.1


@for_each("name", ["lion", "muon", "heavy-ball", "svrg", "newton", "hessian-free"])
def test_complex_weights_are_refused_by_rules_of_real_ones(name: str) -> None:
    with pytest.raises(
        ConfigError, match="needs real weights; adam and sgd also take complex ones"
    ):
        build_optimizer(OPTIMIZERS.load(name), complex_model())


def test_complex_weights_have_no_fused_kernel() -> None:
    with pytest.raises(ConfigError, match="fused kernels need real weights; use kernel 'for"):
        build_optimizer(OPTIMIZERS.load("adam"), complex_model(), kernel="fused")
