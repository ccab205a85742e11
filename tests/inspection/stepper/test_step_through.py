"""The stepper shows the numbers of a hand calculation, and those of autograd for any module."""

import copy
import json
import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright import inspection
from netwright.core.errors import ConfigError
from netwright.inspection.stepper.operation_words import is_quiet
from netwright.inspection.stepper.step_graph import Links, graph_of
from netwright.inspection.stepper.step_through import StepThrough, step_through
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import GRU
from netwright.theory.neurons.xor_networks import CORNERS, two_unit_network
from tests.repetition import for_each


def entries(stepped: StepThrough, name: str, of: str = "value") -> tuple[float, ...]:
    """The numbers of the last step of this name."""
    step = [step for step in stepped.steps if step.name == name][-1]
    return (step.value if of == "value" else step.gradient).entries


@for_each(
    ("corner", "hidden", "answer"),
    [(0, (0, 0.5), 0), (1, (0, 0), 1), (2, (0, 0), 1), (3, (0.5, 0), 0)],
)
def test_the_two_unit_network_of_exclusive_or_shows_the_textbook_values(
    corner: int, hidden: tuple[float, float], answer: float
) -> None:
    x = CORNERS[corner : corner + 1]
    stepped = step_through(two_unit_network("relu"), x)
    assert entries(stepped, "relu") == hidden
    assert stepped.loss == answer


def test_its_gradients_are_those_of_a_hand_calculation() -> None:
    """At x = (1, 1) with the target 1, and L = (f - 1)^2.

    z = W x + b = (1 + 1 - 1.5, -1 - 1 + 0.5) = (0.5, -1.5)
    h = relu(z) = (0.5, 0),    f = -2 * 0.5 - 2 * 0 + 1 = 0,    L = 1
    dL/df = 2 (f - 1) = -2
    dL/dv = -2 h = (-1, 0),    dL/dc = -2,    dL/dh = -2 (-2, -2) = (4, 4)
    dL/dz = (4, 4) * (1, 0) = (4, 0): the second unit is off
    dL/dW = (4, 0)^T (1, 1),   dL/db = (4, 0),   dL/dx = W^T (4, 0) = (4, 4)
    """
    stepped = step_through(two_unit_network("relu"), CORNERS[3:], torch.tensor([[1.0]]))
    linear = [step for step in stepped.steps if step.name == "linear"]
    assert linear[0].value.entries == (0.5, -1.5)
    assert entries(stepped, "relu") == (0.5, 0.0)
    assert linear[1].value.entries == (0.0,)
    assert stepped.loss == 1.0
    assert linear[1].gradient.entries == (-2.0,)
    assert entries(stepped, "relu", "gradient") == (4.0, 4.0)
    assert linear[0].gradient.entries == (4.0, 0.0)
    assert entries(stepped, "x", "gradient") == (4.0, 4.0)
    gradients = [step.gradient.entries for step in stepped.steps if step.kind == "parameter"]
    assert gradients == [(4.0, 4.0, 0.0, 0.0), (4.0, 0.0), (-1.0, 0.0), (-2.0,)]
    (slopes,) = [step.contributions[0] for step in stepped.steps if step.name == "relu"]
    assert slopes.kind == "slopes" and slopes.local is not None
    assert slopes.local.entries == (1.0, 0.0)
    assert stepped.flagged == () and stepped.disagreement == 0.0


class Recurrent(nn.Module):
    """Tokens -> classes, by torch's LSTM or by a stack of ours."""

    def __init__(self, rnn: nn.Module, width: int) -> None:
        super().__init__()
        self.table, self.rnn, self.head = (
            nn.Embedding(5, 2, padding_idx=0),
            rnn,
            nn.Linear(width, 3),
        )

    def forward(self, tokens: Tensor) -> Tensor:
        outputs, _ = self.rnn(self.table(tokens))
        logits: Tensor = self.head(outputs[:, -1])
        return logits


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True))

    def forward(self, x: Tensor) -> Tensor:
        h: Tensor = x + self.inner(x)
        h *= 2
        again: Tensor = self.inner(h)  # the same weights
        return h + again


def images() -> nn.Sequential:
    norm = nn.BatchNorm2d(2)
    nn.init.uniform_(norm.running_mean)  # type: ignore[arg-type]
    return nn.Sequential(
        nn.Conv2d(1, 2, 3),
        norm,
        nn.GELU(),
        nn.MaxPool2d(2),
        nn.Dropout(),
        nn.Flatten(),
        nn.Linear(2, 3),
    )


TOKENS = torch.tensor([[1, 4, 0], [2, 2, 3]])
CASES: dict[str, tuple[Any, Tensor]] = {
    "dense": (lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)), torch.ones(2, 3)),
    "convolution": (images, torch.arange(32.0).reshape(2, 1, 4, 4).sin()),
    "lstm": (lambda: Recurrent(nn.LSTM(2, 2, batch_first=True), 2), TOKENS),
    "gru": (lambda: Recurrent(RecurrentStack(GRU, 2, 2, bidirectional=True), 4), TOKENS),
    "attention": (
        lambda: nn.Sequential(
            nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), nn.Flatten(), nn.Linear(12, 3)
        ),
        torch.arange(24.0).reshape(2, 3, 4).cos(),
    ),
    "shared": (Residual, torch.tensor([[0.3, -1.0, 2.0], [1.0, 0.2, -0.4]])),
}


@for_each("case", CASES)
def test_gradients_are_those_of_autograd_and_measured_ones(case: str) -> None:
    build, x = CASES[case]
    torch.manual_seed(1)
    model, y = build(), torch.tensor([2, 0])
    stepped = step_through(model, x, y)
    model = model.double().eval()
    loss = nn.functional.cross_entropy(model(x.double() if x.is_floating_point() else x), y)
    assert stepped.loss == pytest.approx(loss.item(), rel=1e-12)
    loss.backward()  # type: ignore[no-untyped-call]
    wanted = {name: value.grad for name, value in model.named_parameters()}
    found = {step.name: step.gradient for step in stepped.steps if step.kind == "parameter"}
    assert found.keys() == wanted.keys()
    for name, gradient in wanted.items():
        assert found[name].shape == gradient.shape
        for one, other in zip(
            (found[name].low, found[name].mean, found[name].high),
            (gradient.min(), gradient.mean(), gradient.max()),
            strict=True,
        ):
            assert one == pytest.approx(float(other), rel=1e-9, abs=1e-12)
    assert stepped.disagreement < 1e-12
    assert stepped.flagged == ()
    checks = {step.check.verdict: step.gradient for step in stepped.steps if step.check}
    assert checks.keys() <= {"ok", "unclear"}
    if "unclear" in checks:  # the bias of keys, which softmax does not feel
        assert case == "attention" and max(map(abs, checks["unclear"].entries)) < 1e-15


@pytest.mark.covers("gradient-accumulation")
def test_contributions_to_a_shared_weight_add() -> None:
    """Of w x1 + w x2 by w: x1 + x2; and k small batches give the gradient of the large one."""

    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.tensor(0.5))

        def forward(self, x: Tensor) -> Tensor:
            return self.w * x[0] + self.w * x[1]

    stepped = step_through(Shared(), torch.tensor([2.0, 7.0]))
    (place,) = [place for place, step in enumerate(stepped.steps) if step.name == "w"]
    parts = [
        one.amount.entries[0]
        for step in stepped.steps
        for one in step.contributions
        if one.target == place
    ]
    assert sorted(parts) == [2.0, 7.0]
    assert stepped.steps[place].gradient.entries == (9.0,)
    rows = torch.arange(8.0).reshape(4, 2).cos()
    torch.manual_seed(0)
    model = nn.Linear(2, 1)

    def gradient(x: Tensor) -> Tensor:
        stepped = step_through(model, x, loss=lambda output: output.square().sum())
        return torch.tensor(entries(stepped, "weight", "gradient"))

    torch.testing.assert_close(sum(gradient(row[None]) for row in rows), gradient(rows))


def test_an_lstm_of_three_steps_is_unrolled_in_time() -> None:
    torch.manual_seed(0)
    stepped = step_through(Recurrent(nn.LSTM(2, 2, batch_first=True), 2), TOKENS[:1], TOKENS[0, :1])
    for t in (1, 2, 3):
        gates = [step.name for step in stepped.steps if step.moment == f"t={t}" and not step.quiet]
        assert gates.count("sigmoid") == 3 and gates.count("tanh") == 2
        assert {step.where for step in stepped.steps if step.moment == f"t={t}"} == {"rnn"}
    (weight,) = [
        place for place, step in enumerate(stepped.steps) if step.name == "rnn.weight_hh_l0"
    ]
    users = [step for step in stepped.steps for one in step.contributions if one.target == weight]
    assert [user.moment for user in users] == ["t=1", "t=2", "t=3"]


def test_attention_is_shown_in_its_steps() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    shown = [step.name for step in step_through(layer, torch.ones(1, 2, 4), loss=torch.sum).steps]
    quiet = [name for name in shown if not is_quiet(name)]
    place = quiet.index("softmax")
    assert quiet[place - 2 : place + 2] == ["@", "*", "softmax", "@"]
    assert shown.count("layer_norm") == 2


def test_the_model_and_chance_are_left_as_they_were() -> None:
    torch.manual_seed(0)
    model = images().train()
    model[0].weight.requires_grad_(False)
    before, modes = copy.deepcopy(model.state_dict()), [part.training for part in model.modules()]
    state = torch.get_rng_state()
    step_through(model, torch.ones(1, 1, 4, 4), torch.tensor([1]))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert [part.training for part in model.modules()] == modes
    assert [value.requires_grad for value in model.parameters()] == [False] + [True] * 5
    assert all(value.grad is None for value in model.parameters())
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_default_dtype() == torch.float32


def test_real_targets_are_met_by_squared_error_and_a_loss_may_be_given() -> None:
    model = nn.Linear(1, 1)
    nn.init.ones_(model.weight)
    nn.init.zeros_(model.bias)
    x = torch.tensor([[3.0]])
    assert step_through(model, x, torch.tensor([[1.0]])).loss == 4.0
    assert step_through(model, x).loss == 3.0
    given = step_through(model, x, "half", loss=lambda output, _: output.sum() / 2)
    assert given.loss == 1.5


def test_targets_without_a_loss_are_a_tensor() -> None:
    sentence = "y must be a tensor where no loss is given, got str"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        step_through(nn.Linear(1, 1), torch.ones(1, 1), "half")


class Backwards(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.exp()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0]


class Faulty(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return Backwards.apply(x).sum()  # type: ignore[no-any-return, no-untyped-call]


def test_the_caption_says_which_derivative_is_wrong() -> None:
    stepped = step_through(Faulty(), torch.tensor([1.0, 2.0]))
    assert stepped.flagged == (1,)
    assert "WRONG is the derivative of #1 Backwards; of 3 gradients that" in stepped.caption
    assert (
        "were measured 2 agree, 1 is off; those of parameters and inputs equal" in stepped.caption
    )
    assert "OFF" in stepped.text()
    right = step_through(nn.Tanh(), torch.tensor([1.0]))
    assert right.caption.startswith(
        "1 operation leads to the loss of 0.7616; every operation's derivative agrees with a "
        "measured one; of 2 gradients that were measured 2 agree, 0 are off; those of "
    )


def test_the_caption_counts_what_lies_at_a_kink_or_could_not_be_measured() -> None:
    ties = step_through(nn.MaxPool1d(2), torch.ones(1, 1, 4), torch.zeros(1, 1, 2)).caption
    assert "of 2 derivatives of operations 1 agree with measured ones, 1 lies at a kink;" in ties
    assert "of 3 gradients that were measured 2 agree, 0 are off, 1 lies at a kink;" in ties
    nothing = step_through(nn.Linear(2, 1), torch.tensor([[math.nan, 1.0]])).caption
    assert "leads to the loss of nan; the first value that is NOT FINITE is x; of 3 " in nothing
    assert "0 agree with measured ones, 3 could not be measured; of 0 gradients" in nothing


class Trap(nn.Module):
    """Finite everywhere, but NaN times 0 is in its gradient."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x > 0, x.sqrt(), torch.zeros_like(x)).sum()


def test_a_gradient_that_is_no_number_does_not_pass() -> None:
    stepped = step_through(Trap(), torch.tensor([-1.0, 4.0]))
    assert stepped.loss == 2.0
    assert "the first value that is NOT FINITE is #1 sqrt; " in stepped.caption
    assert stepped.steps[0].check is not None and stepped.steps[0].check.verdict == "off"


class WrongLog(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.log()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        wrong: Tensor = 5 * grads[0] / ctx.saved_tensors[0]
        return wrong


class Small(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return 1e-9 * x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return 7e-9 * grads[0]


class Applied(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


@for_each(
    ("function", "flagged"),
    [
        (lambda x: WrongLog.apply(1e-6 * x).sum(), (2,)),  # type: ignore[no-untyped-call]
        (lambda x: (1e9 * Small.apply(x)).sum(), (1,)),  # type: ignore[no-untyped-call]
        (lambda x: (1e-6 * x).log().sum(), ()),
        (lambda x: torch.sin(1e6 * x).sum(), ()),
    ],
    ids=["near the end of the domain", "small slope", "right", "large inputs"],
)
def test_wrong_derivatives_are_flagged_whatever_their_size(
    function: Callable[[Tensor], Tensor], flagged: tuple[int, ...]
) -> None:
    assert step_through(Applied(function), torch.tensor([1.0, 2.0])).flagged == flagged


def test_a_model_may_change_its_input_in_place() -> None:
    x = torch.tensor([[-1.0, 2.0, 3.0]])
    stepped = step_through(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 1)), x)
    assert stepped.disagreement == 0.0
    assert stepped.steps[0].value.entries == (-1.0, 2.0, 3.0)
    assert torch.equal(x, torch.tensor([[-1.0, 2.0, 3.0]]))


def test_a_loss_that_is_only_moved_is_shown_as_the_last_value() -> None:
    stepped = step_through(nn.Sequential(nn.Linear(3, 1), nn.Flatten(0)), torch.ones(1, 3))
    boxes = graph_of(Links(stepped.steps)).boxes
    assert boxes[-1].title == "#4 flatten"


def test_constants_are_kept_beside_the_operations_that_read_them() -> None:
    embedded = nn.Sequential(nn.Embedding(5, 2), nn.Flatten(), nn.Linear(6, 1))
    stepped = step_through(embedded, torch.tensor([[1, 4, 2]]), torch.tensor([[7.5]]))
    named = {step.name: step.constants for step in stepped.steps if step.constants}
    assert [(name, one.entries) for name, one in named["embedding"]] == [("x", (1.0, 4.0, 2.0))]
    assert [(name, one.entries) for name, one in named["mse_loss"]] == [("target", (7.5,))]
    (times,) = [
        step for step in step_through(Applied(lambda x: x * 3), torch.ones(1)).steps if step.inputs
    ]
    assert [(name, str(one)) for name, one in times.constants] == [("constant", "3")]


def test_it_prints_its_tables_and_its_numbers_are_plain() -> None:
    stepped = step_through(nn.Tanh(), torch.tensor([1.0]))
    assert str(stepped) == stepped.text()
    assert stepped.text().startswith("FORWARD\n")
    assert json.loads(json.dumps(stepped.to_json()))["steps"][1]["name"] == "tanh"


def test_the_room_exports_it_when_it_is_asked_for() -> None:
    assert inspection.step_through is step_through
    with pytest.raises(
        AttributeError, match=r"^module 'netwright.inspection' has no attribute 'x'"
    ):
        inspection.x  # noqa: B018
