"""The Elman network: its equations by hand, its counts, and what a recurrence can learn."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.sequence.elman import Elman, ElmanConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.models.sequence.specs import SPECS, series, train
from tests.repetition import for_each

CONFIG = ElmanConfig(hidden=4, embedding=3)


@for_each("kind", SPECS)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None], kind: str) -> None:
    check(lambda: Elman.build(CONFIG, SPECS[kind]))


def built(config: ElmanConfig, spec: DataSpec) -> Elman:
    with seeded(0):
        return Elman.build(config, spec)


@pytest.mark.covers("rnn-torch-listing")
def test_the_listing_of_ten_inputs_and_five_classes_has_745_weights() -> None:
    spec = DataSpec(inputs="series", input_shape=(15, 10), target="class", num_outputs=5)
    model = built(ElmanConfig(hidden=20), spec)
    assert model(torch.zeros(3, 15, 10)).shape == (3, 5)
    counts = [
        sum(part.numel() for part in module.parameters()) for module in (model.backbone, model.head)
    ]
    assert counts == [640, 105]


@pytest.mark.covers("rnn-forward-equations")
def test_two_steps_by_hand_and_a_loss_that_is_the_sum_of_the_steps() -> None:
    spec = DataSpec(inputs="series", input_shape=(2, 1), target="tags", num_outputs=2)
    model = built(ElmanConfig(hidden=1, dropout=0.0), spec).double()
    values = {"weight_ih_l0": 2.0, "weight_hh_l0": -1.0, "bias_ih_l0": 0.5, "bias_hh_l0": 0.0}
    with torch.no_grad():
        for name, value in values.items():
            model.backbone.rnn.get_parameter(name).fill_(value)
        model.head.get_parameter("weight").copy_(torch.tensor([[1.0], [-2.0]]))
        model.head.get_parameter("bias").copy_(torch.tensor([0.1, 0.2]))
    logits = model(torch.tensor([[[0.25], [-1.0]]], dtype=torch.float64))
    loss, h = 0.0, 0.0
    for x, y, found in zip((0.25, -1.0), (0, 1), logits[0].tolist(), strict=True):
        h = math.tanh(0.5 - h + 2 * x)  # a = b + W h + U x
        o = [0.1 + h, 0.2 - 2 * h]  # o = c + V h
        assert found == pytest.approx(o)
        loss -= o[y] - math.log(math.exp(o[0]) + math.exp(o[1]))  # -log softmax(o)_y
    total = nn.functional.cross_entropy(logits[0], torch.tensor([0, 1]), reduction="sum")
    assert total.item() == pytest.approx(loss)


@pytest.mark.covers("elman-rnn")
def test_without_biases_it_has_as_many_weights_as_printed_and_their_gradients() -> None:
    m, n, q = 3, 2, 4
    model = built(ElmanConfig(hidden=m, dropout=0.0), series(5, n, q)).double()
    biases = [part for name, part in model.named_parameters() if "bias" in name]
    count = sum(part.numel() for part in model.parameters()) - sum(part.numel() for part in biases)
    assert count == m**2 + m * n + q * m
    for bias in biases:
        nn.init.zeros_(bias)
    names = [name for name, _ in model.named_parameters() if "bias" not in name]

    def run(x: Tensor, *weights: Tensor) -> Tensor:
        answer: Tensor = torch.func.functional_call(
            model, dict(zip(names, weights, strict=True)), (x,)
        )
        return answer

    weights = [model.get_parameter(name).detach().clone().requires_grad_() for name in names]
    assert torch.autograd.gradcheck(
        run, (torch.randn(1, 5, n, dtype=torch.float64, requires_grad=True), *weights)
    )


def sign_of_sum(numbers: torch.Generator, steps: int = 10) -> tuple[Tensor, Tensor]:
    x = torch.randn(64, steps, 1, generator=numbers)
    return x, (x.sum((1, 2)) > 0).long()


@pytest.mark.covers("vanilla-rnn")
def test_it_takes_any_length_is_its_loop_and_learns_the_sign_of_a_sum() -> None:
    spec = DataSpec(inputs="series", input_shape=(10, 1), target="class", num_outputs=2)
    model = built(ElmanConfig(hidden=8, dropout=0.0), spec)
    train(model, sign_of_sum, nn.functional.cross_entropy, steps=150)
    for steps in (3, 10, 30):
        x, y = sign_of_sum(torch.Generator().manual_seed(1), steps)
        model.backbone.fused = True
        fused = model(x)
        model.backbone.fused = False
        torch.testing.assert_close(model(x), fused)
        assert steps == 30 or (fused.argmax(1) == y).float().mean() > 0.9


@pytest.mark.slow
@pytest.mark.covers("bidirectional-rnn")
def test_only_both_directions_can_name_the_next_token() -> None:
    spec = DataSpec(inputs="tokens", input_shape=(6,), target="tags", num_outputs=4, vocab_size=4)

    def next_token(numbers: torch.Generator) -> tuple[Tensor, Tensor]:
        text = torch.randint(4, (32, 7), generator=numbers)
        return text[:, :-1], text[:, 1:]

    accuracies = []
    for bidirectional in (False, True):
        config = ElmanConfig(hidden=16, embedding=4, dropout=0.0, bidirectional=bidirectional)
        model = built(config, spec)
        train(
            model,
            next_token,
            lambda logits, tags: nn.functional.cross_entropy(logits.flatten(0, 1), tags.flatten()),
            steps=120,
        )
        text, tags = next_token(torch.Generator().manual_seed(1))
        later = text.clone()
        later[:, 3] = (later[:, 3] + 1) % 4
        assert torch.equal(model(text)[:, 2], model(later)[:, 2]) is not bidirectional
        said = model(text).argmax(-1)[:, :-1]  # the last label is not among the inputs
        accuracies.append((said == tags[:, :-1]).float().mean().item())
    assert accuracies[0] < 0.4
    assert accuracies[1] == 1.0


def test_settings_choose_the_nonlinearity_and_the_start() -> None:
    model = built(
        ElmanConfig(hidden=4, nonlinearity="relu", initializer="identity"), SPECS["series"]
    )
    assert torch.equal(model.backbone.weights(0)["weight_hh"], torch.eye(4))
    outputs, _ = model.backbone(torch.randn(2, 6, 2))
    assert bool((outputs >= 0).all())
    assert bool((built(CONFIG, SPECS["series"]).backbone(torch.randn(2, 6, 2))[0] < 0).any())
