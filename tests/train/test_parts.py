"""The parts of a model: which there are, what they are called, whose weights, and their rates."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.catalog import MODELS
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.optimizers.schedules import SCHEDULES, build_schedule
from netwright.train.parts import count_up_to, group_by_part, layers_of, parts_of, weights_by_part
from netwright.train.settings import TrainConfig
from tests.repetition import for_each
from tests.train.toy_runs import assert_close, toy_data, toy_fit, toy_net, toy_start

VISION = [
    name for name in MODELS if MODELS.load(name).__module__.startswith("netwright.models.vision.")
]
# Deeper ones have more of the same blocks as resnet20, resnet34 and resnet50.
DEEPER = ("resnet32", "resnet44", "resnet56", "resnet110", "resnet101", "resnet152")
RATED = [name for name in OPTIMIZERS if not OPTIMIZERS.load(name).closure]


class Residual(nn.Module):
    """Named as torchvision names a residual network."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.conv1, self.bn1, self.relu = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()
        self.layer1 = nn.Sequential(nn.Conv2d(2, 2, 1), nn.Conv2d(2, 2, 1))
        self.layer2 = nn.ModuleList([nn.Conv2d(2, 3, 1)])
        self.layer2.append(nn.Flatten())
        self.fc = nn.Linear(3, 4)


def paths(model: nn.Module) -> list[str]:
    return [part.path for part in parts_of(model)]


def test_children_are_parts_sequences_are_opened_and_what_has_no_weights_is_left_out() -> None:
    net = Residual()
    assert paths(net) == ["conv1", "layer1.0", "layer1.1", "layer2.0", "fc"]
    assert parts_of(net)[1].layers[0].module is net.layer1[0]
    everything = [layer.path for layer in layers_of(net)]
    assert everything == ["conv1", "bn1", "relu", *paths(net)[1:4], "layer2.1", "fc"]
    assert paths(nn.ReLU()) == []


def test_a_norm_is_of_the_part_before_it_and_by_itself_where_there_is_none() -> None:
    assert [layer.path for layer in parts_of(Residual())[0].layers] == ["conv1", "bn1"]
    assert paths(toy_net(batch_norm=True)) == ["0", "4"]
    statistics_only = nn.BatchNorm1d(3, affine=False)
    first = nn.Sequential(statistics_only, nn.LayerNorm(3), nn.Linear(3, 3), nn.ReLU())
    net = nn.Sequential(*first, nn.GroupNorm(1, 3), nn.RMSNorm(3), nn.Linear(3, 3))
    assert paths(net) == ["1", "2", "6"]
    assert [layer.path for layer in parts_of(net)[1].layers] == ["2", "4", "5"]


class InHalves(nn.Module):
    """A convolution and a norm in a sequence that is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.prep = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
        self.head = nn.Linear(2, 2)


def test_convolution_and_norm_have_one_rate() -> None:
    net = InHalves()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    group_by_part(optimizer, net, 0.5)
    found = {name: rates(optimizer)[weight] for name, weight in net.named_parameters()}
    assert {name for name, rate in found.items() if rate == 1.0} == {"head.weight", "head.bias"}
    assert {rate for name, rate in found.items() if name.startswith("prep.")} == {0.5}


@for_each(
    ("name", "count"), [("conv1", 1), ("layer1", 3), ("layer1.0", 2), ("layer2", 4), ("bn1", 1)]
)
def test_a_name_is_a_part_or_a_sequence_of_parts(name: str, count: int) -> None:
    assert count_up_to(parts_of(Residual()), name) == count


@for_each(
    ("model", "name", "sentence"),
    [
        (Residual(), "conv", "unknown part 'conv' of the model; did you mean 'conv1'?"),
        (Residual(), "layr1.0", "unknown part 'layr1.0' of the model; did you mean 'layer1.0'?"),
        (
            Residual(),
            "stem",
            "unknown part 'stem' of the model; there are conv1, layer1, layer2, fc",
        ),
        (nn.ReLU(), "a", "unknown part 'a' of the model; there are none"),
        (Residual(), "fc", "freeze must name a part before the last one, 'fc', got 'fc'"),
        (
            nn.Sequential(nn.Sequential(nn.Linear(1, 1))),
            "0",
            "freeze must name a part before the last one, '0.0', got '0'",
        ),
    ],
)
def test_other_names_and_the_last_part_are_refused(
    model: nn.Module, name: str, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        count_up_to(parts_of(model), name)


def test_every_weight_belongs_to_one_part_and_the_first_has_what_is_shared_or_loose() -> None:
    net = Residual()
    net.layer1[1].weight = net.layer1[0].weight
    groups = weights_by_part(net)
    assert [len(group) for group in groups] == [5, 2, 1, 2, 2]
    assert groups[0][0] is net.scale
    assert groups[1][0] is net.layer1[0].weight
    assert sum(map(len, groups)) == len(list(net.parameters()))
    (alone,) = weights_by_part(nn.Linear(2, 2))
    assert len(alone) == 2


def vision_net(name: str) -> nn.Module:
    """A network of the catalog for images of 64 x 64, without memory."""
    kind = MODELS.load(name)
    target: TargetKind = "class" if "class" in kind.targets else "mask"
    spec = DataSpec(inputs="image", input_shape=(3, 64, 64), target=target, num_outputs=5)
    with torch.device("meta"):
        return kind.build(kind.settings(), spec)


@for_each("name", [name for name in VISION if name not in DEEPER])
def test_the_parts_of_networks_for_images_are_in_the_order_of_use(name: str) -> None:
    net, used = vision_net(name), list[str]()
    for part in parts_of(net):
        for layer in part.layers:
            layer.module.register_forward_hook(lambda *_, path=layer.path: used.append(path))
    net(torch.empty(2, 3, 64, 64, device="meta"))
    assert used == [layer.path for part in parts_of(net) for layer in part.layers]


def rates(optimizer: torch.optim.Optimizer) -> dict[Tensor, float]:
    return {weight: group["lr"] for group in optimizer.param_groups for weight in group["params"]}


@for_each("penalize", ["all", "weights"])
@for_each("name", RATED)
def test_each_part_before_the_last_learns_at_a_share_of_the_next_ones_rate(
    name: str, penalize: Any
) -> None:
    net, entry = Residual(), OPTIMIZERS.load(name)
    optimizer = build_optimizer(entry, net, weight_decay=0.1, penalize=penalize)
    before = rates(optimizer)
    group_by_part(optimizer, net, 0.5)
    after = rates(optimizer)
    assert optimizer.param_groups[0]["lr"] == entry.lr  # the head's, which a message may show
    for steps, weights in enumerate(reversed(weights_by_part(net))):
        assert [after[weight] for weight in weights] == [before[w] * 0.5**steps for w in weights]
    decays = {weight: g["weight_decay"] for g in optimizer.param_groups for weight in g["params"]}
    spared = {weight for weight in after if weight.ndim < 2} if penalize == "weights" else set()
    assert {weight for weight, decay in decays.items() if decay == 0} == spared


@for_each("name", SCHEDULES)
def test_schedules_move_all_rates_alike(name: str) -> None:
    net = toy_net(batch_norm=True)
    optimizer = build_optimizer(OPTIMIZERS.load("sgd"), net, lr=1.0)
    group_by_part(optimizer, net, 0.5)
    schedule = build_schedule(name, optimizer, steps=8, steps_per_epoch=2, warmup=2)
    for step in range(8):
        if hasattr(schedule, "see") and step % 2:
            schedule.see(1.0)
        head, *others = (group["lr"] for group in optimizer.param_groups)
        assert others == [pytest.approx(head / 2)]
        optimizer.step()
        schedule.step()


def test_a_step_of_sgd_is_the_gradient_times_the_rate_of_its_part() -> None:
    decayed, plain = toy_net(), toy_net()
    whole = {"optimizer": "sgd", "lr": 0.5, "epochs": 1, "batch_size": 20}
    toy_fit(decayed, toy_data(), layer_decay=0.25, **whole)
    toy_fit(plain, toy_data(), **whole)
    with torch.no_grad():
        for weight, start in zip(plain[0].parameters(), toy_net()[0].parameters(), strict=True):
            weight.copy_(start + 0.25 * (weight - start))
    assert_close(decayed, plain, 1e-6)


@for_each("name", ["lbfgs", "newton", "hessian-free", "svrg"])
@for_each("settings", [{"layer_decay": 0.5}, {"freeze": "0"}])
def test_an_optimizer_that_finds_one_step_for_all_weights_is_refused(
    name: str, settings: dict[str, Any]
) -> None:
    setting = next(iter(settings))
    sentence = f"{setting} is not supported with {name}: it updates all weights together"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        toy_start(optimizer=name, batch_size=20, **settings)


@pytest.mark.parametrize(
    ("decay", "fault"), [(0.0, "greater than 0.0, got 0.0"), (1.5, "at most 1.0, got 1.5")]
)
def test_a_decay_that_freezes_or_grows_is_refused(decay: float, fault: str) -> None:
    with pytest.raises(ConfigError, match=f"^layer_decay must be {re.escape(fault)}$"):
        TrainConfig(layer_decay=decay)
    assert TrainConfig(layer_decay=1.0).layer_decay == 1.0  # all rates alike
