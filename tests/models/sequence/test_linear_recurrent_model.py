"""Models of linear recurrences: reading, stepping and carrying give the same numbers."""

from collections.abc import Callable

import pytest
import torch

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.sequence.linear_recurrent_model import LinearRecurrentModel
from netwright.models.sequence.lru import LRU, LRUConfig
from netwright.models.sequence.min_recurrent import MinGRU, MinGRUConfig, MinLSTM, MinLSTMConfig
from tests.models.sequence.specs import SPECS

BUILDS: dict[str, Callable[[DataSpec], LinearRecurrentModel]] = {
    "mingru": lambda spec: MinGRU.build(MinGRUConfig(hidden=4, embedding=3, layers=3), spec),
    "minlstm": lambda spec: MinLSTM.build(MinLSTMConfig(hidden=4, embedding=3), spec),
    "lru": lambda spec: LRU.build(LRUConfig(hidden=4, embedding=3), spec),
}


def model(name: str, kind: str) -> LinearRecurrentModel:
    with seeded(0):
        return BUILDS[name](SPECS[kind]).double().eval()


def tokens(rows: int, steps: int) -> torch.Tensor:
    return torch.randint(1, 5, (rows, steps), generator=torch.Generator().manual_seed(0))


def test_the_config_counts_the_blocks() -> None:
    assert len(model("mingru", "tokens").backbone.blocks) == 3
    assert len(model("lru", "tokens").backbone.blocks) == 2


@pytest.mark.parametrize("name", BUILDS)
def test_generating_step_by_step_gives_the_logits_of_the_whole(name: str) -> None:
    net, text = model(name, "tokens"), tokens(2, 9)
    with torch.no_grad():
        whole = net(text)
        logits, state = net.read(text[:, :4])
        torch.testing.assert_close(logits, whole[:, 3])
        for t in range(4, 9):
            logits, state = net.step(text[:, t], state)
            torch.testing.assert_close(logits, whole[:, t])


@pytest.mark.parametrize("name", BUILDS)
def test_the_state_does_not_grow_with_the_text(name: str) -> None:
    net = model(name, "tokens")
    with torch.no_grad():
        short, long = net.read(tokens(1, 3))[1], net.read(tokens(1, 300))[1]
    assert [part.shape for part in short] == [part.shape for part in long]


@pytest.mark.parametrize("name", BUILDS)
def test_a_batch_goes_on_where_the_last_one_ended(name: str) -> None:
    with seeded(0):
        net = BUILDS[name](SPECS["tokens"]).double()
    for part in net.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    text = tokens(2, 12)
    with torch.no_grad():
        whole = net(text)
        net.carry_state(2)
        halves = torch.cat((net(text[:, :7]), net(text[:, 7:])), dim=1)
    torch.testing.assert_close(halves, whole)
    assert net.state_dict()["carried"].dtype == torch.float64  # real, so that it can be saved
