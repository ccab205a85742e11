"""The temperature: a planted one is found, it is where the loss is least, weights and bounds."""

import pytest
import torch

from netwright.core.errors import DataError
from netwright.metrics.temperature import HIGHEST, choose_temperature


def rows(temperature: float, count: int = 20_000) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits that are so many times too large, and classes drawn by the honest probabilities."""
    numbers = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(count, 3, generator=numbers)
    targets = torch.multinomial(logits.softmax(1), 1, generator=numbers)[:, 0]
    return (logits * temperature).softmax(dim=1), targets


@pytest.mark.parametrize("planted", [0.5, 1.0, 3.0])
def test_a_planted_temperature_is_found(planted: float) -> None:
    found = choose_temperature(*rows(planted))
    assert found.value == pytest.approx(planted, rel=0.04)
    assert found.loss <= found.before


def test_it_is_where_the_loss_is_least() -> None:
    probabilities, targets = rows(3.0, 200)
    found = choose_temperature(probabilities, targets)

    def loss(temperature: float, doubt: float = 1 / 201) -> float:
        logs = (probabilities.double().log() / temperature).log_softmax(dim=1)
        told = logs.gather(1, targets[:, None])
        return -float(((1 - doubt) * told + doubt * logs.mean(dim=1, keepdim=True)).mean())

    assert found.loss == pytest.approx(loss(found.value, 0))
    assert found.before == pytest.approx(loss(1.0, 0))
    assert loss(found.value) < min(loss(found.value * 0.99), loss(found.value * 1.01))


def test_few_rows_that_are_all_right_are_no_proof_of_certainty() -> None:
    """Of 9 rows a tenth is doubted: of two classes the mean probability of the truth is 0.95."""
    right = torch.tensor([[0.8, 0.2]] * 9)
    found = choose_temperature(right, torch.zeros(9, dtype=torch.int64))
    odds = (0.8 / 0.2) ** (1 / found.value)
    assert odds / (1 + odds) == pytest.approx(0.95)


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    probabilities, targets = rows(2.0, 40)
    twice = torch.cat((torch.arange(40), torch.arange(10)))
    weights = torch.where(torch.arange(40) < 10, 2.0, 1.0)
    weighed = choose_temperature(probabilities, targets, weights).value
    doubled = choose_temperature(probabilities[twice], targets[twice]).value
    assert weighed == pytest.approx(doubled, rel=0.02)  # the doubt is of the number of rows
    assert weighed != pytest.approx(choose_temperature(probabilities, targets).value, rel=0.02)


def test_what_is_never_right_ends_at_the_bound() -> None:
    sure = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert choose_temperature(sure, torch.tensor([1, 1])).value == pytest.approx(HIGHEST, rel=1e-6)


def test_what_are_no_probabilities_is_refused() -> None:
    with pytest.raises(DataError):
        choose_temperature(torch.tensor([[-0.5, 1.5]]), torch.tensor([0]))
