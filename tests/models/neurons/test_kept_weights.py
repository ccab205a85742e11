"""What is kept: the weights with the fewest errors, or the mean over all visits."""

import torch

from netwright.models.neurons.kept_weights import Average, Pocket, Problem, Rows, weighted_errors
from netwright.models.neurons.mistake_driven import perceptron_pass


def rows(weight: float, bias: float) -> Rows:
    return Rows(
        torch.tensor([[weight]], dtype=torch.float64), torch.tensor([bias], dtype=torch.float64)
    )


LINE = Problem(
    torch.tensor([[-1.0], [1.0], [3.0]]), torch.tensor([[-1.0], [1.0], [1.0]], dtype=torch.float64)
)
SOME = torch.ones(3, 1, dtype=torch.bool)
ORDER = torch.arange(3)


def test_errors_count_what_the_model_would_answer() -> None:
    assert weighted_errors(rows(1, 0), LINE) == 0
    assert weighted_errors(rows(1, -2), LINE) == 1
    assert weighted_errors(rows(0, 0), LINE) == 2  # a score of zero is the first class
    doubled = Problem(LINE.inputs, LINE.pulls * torch.tensor([[1.0], [2.5], [1.0]]))
    assert weighted_errors(rows(1, -2), doubled) == 2.5
    classes = Problem(torch.eye(3), 2 * torch.eye(3, dtype=torch.float64) - 1)
    both = Rows(torch.eye(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64))
    assert weighted_errors(both, classes) == 0
    assert weighted_errors(Rows(-both.weight, both.bias), classes) == 3


def test_pocket_keeps_the_best_and_not_the_last() -> None:
    pocket = Pocket(LINE)
    running = rows(1, -2)
    kept = pocket.after_pass(running, SOME, ORDER)
    assert kept is not None
    running.weight.zero_()  # the walk goes on; what is kept stays
    assert kept.weight.item() == 1
    assert pocket.after_pass(rows(0, 0), SOME, ORDER) is None
    assert pocket.after_pass(rows(1, -2), SOME, ORDER) is None  # as good is not better
    assert pocket.after_pass(rows(1, 0), SOME, ORDER) is not None


def test_average_is_the_mean_of_the_weights_after_every_visit() -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(90, 2, generator=numbers, dtype=torch.float64)
    pulls = torch.randn(90, 2, generator=numbers, dtype=torch.float64).sign()
    problem = Problem(x, pulls)
    average = Average(problem)
    running = Rows(torch.zeros(2, 2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64))
    weight, bias = running.weight.clone(), running.bias.clone()
    seen_weights, seen_biases = [], []
    for _ in range(3):
        order = torch.randperm(90, generator=numbers)
        mistakes = perceptron_pass(*running, x, pulls, order)
        for visit, index in enumerate(order):
            update = pulls[index] * mistakes[visit]
            weight, bias = weight + update[:, None] * x[index], bias + update
            seen_weights.append(weight)
            seen_biases.append(bias)
        kept = average.after_pass(running, mistakes, order)
        assert kept is not None
        torch.testing.assert_close(kept.weight, torch.stack(seen_weights).mean(0))
        torch.testing.assert_close(kept.bias, torch.stack(seen_biases).mean(0))
