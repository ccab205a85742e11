"""What every model with a learning rule of its own promises, as checks for anyone's own.

`build` makes a model of the catalog's kind that is also a `Learner`; the data is made to fit its
spec, by a linear rule, so that there is something to learn.

Shapes: N examples.
"""

import math
from collections.abc import Callable
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from netwright.core.learner import Learner
from netwright.core.seeding import seeded
from netwright.data.dataset import Split
from netwright.models.model import Model
from netwright.testing.model_contract import outputs_of, sample_inputs

Build = Callable[[], Any]  # a `Model` that is a `Learner` too, which Python cannot write down
EXAMPLES = 60
MOST_STEPS = 1000


def sample_examples(model: Model, seed: int = 0) -> Split:
    """Examples whose targets follow from the inputs by a random linear rule; tokens come next."""
    spec = model.spec
    inputs = sample_inputs(spec, EXAMPLES, seed)
    numbers = torch.Generator().manual_seed(seed + 1)
    rule = torch.randn(spec.num_features, max(1, spec.num_outputs), generator=numbers)
    scores = inputs.float().flatten(1) @ rule  # (N, outputs)
    targets = {
        "class": scores.argmax(dim=1),
        "labels": (scores > 0).float(),
        "real": scores + 0.1 * torch.randn(scores.shape, generator=numbers),
        "tokens": inputs.roll(-1, dims=1),
    }
    return Split(inputs=inputs, targets=targets.get(spec.target, scores))


def _built(build: Build) -> Any:
    with seeded(0):
        model = build()
    assert isinstance(model, Model), f"build must give a Model, got {type(model).__name__}"
    assert isinstance(model, Learner), f"{type(model).__name__} must be a Learner"
    return model


def _error(model: Model, data: Split) -> float:
    """Squared error for reals, share of wrong answers for classes, labels and tokens."""
    output = outputs_of(model.eval(), data.inputs)
    if model.spec.target in {"class", "tokens"}:
        return float((output.argmax(dim=-1) != data.targets).float().mean())
    if model.spec.target == "labels":
        return float(((output > 0) != (data.targets > 0)).float().mean())
    return float((output - data.targets).square().mean())


def _all_steps(model: Learner, data: Split, seed: int = 0) -> list[dict[str, float]]:
    return list(islice(model.fit_steps(data, seed), MOST_STEPS))


def check_steps_are_finite_numbers(build: Build) -> None:
    """Each step gives names and finite floats, ready for the history."""
    model = _built(build)
    steps = _all_steps(model, sample_examples(model))
    assert steps, "fit_steps gave nothing: not one step was made"
    for count, numbers in enumerate(steps, start=1):
        assert numbers, f"step {count} measured nothing"
        for name, value in numbers.items():
            assert isinstance(name, str) and type(value) is float, (
                f"step {count} must give text and floats, got {name!r}: {value!r}"
            )
            assert math.isfinite(value), f"{name} is {value} at step {count}"


def check_learns(build: Build) -> None:
    """The rule makes fewer errors at the end than at the start, on the examples it saw."""
    model = _built(build)
    data = sample_examples(model)
    if model.spec.target not in {"class", "labels", "real", "tokens"}:
        losses = [step["loss"] for step in _all_steps(model, data)]
        assert losses[-1] <= losses[0], f"the loss rose from {losses[0]} to {losses[-1]}"
        return
    before = _error(model, data)
    _all_steps(model, data)
    after = _error(model, data)
    assert after < before, f"the error was {before} at the start, and is {after} at the end"


def check_same_seed_same_result(build: Build) -> None:
    """Chance comes from the seed alone, not from torch's own generator."""
    results = []
    for state in (1, 2):
        model = _built(build)
        with seeded(state):
            steps = _all_steps(model, sample_examples(model), seed=7)
        results.append((steps, model.state_dict()))
    (steps, weights), (others, other_weights) = results
    assert steps == others, "two runs of one seed measured different numbers"
    for name, value in weights.items():
        assert torch.equal(value, other_weights[name]), f"{name} differs between two runs"


def check_usable_between_steps(build: Build) -> None:
    """After any step the driver may stop: the model predicts finite numbers."""
    model = _built(build)
    data = sample_examples(model)
    for count, _ in enumerate(islice(model.fit_steps(data, 0), 5), start=1):
        training = model.training
        output: Tensor = outputs_of(model.eval(), data.inputs)
        model.train(training)
        assert len(output) == len(data), f"step {count}: {len(output)} outputs for {len(data)} rows"
        assert bool(output.isfinite().all()), f"the output is not finite after step {count}"


def check_leaves_its_data_alone(build: Build) -> None:
    """Learning writes into the model, never into the examples."""
    model = _built(build)
    data = sample_examples(model)
    inputs, targets = data.inputs.clone(), data.targets.clone()
    _all_steps(model, data)
    assert torch.equal(data.inputs, inputs), "learning changed the inputs"
    assert torch.equal(data.targets, targets), "learning changed the targets"


LEARNER_CHECKS = (
    check_steps_are_finite_numbers,
    check_learns,
    check_same_seed_same_result,
    check_usable_between_steps,
    check_leaves_its_data_alone,
)
