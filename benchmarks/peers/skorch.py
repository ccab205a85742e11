"""skorch: `NeuralNetClassifier.partial_fit` after `initialize`, so that set-up is off the clock."""

from typing import Any

import torch
from contest import BatchIndexed, Problem, Turn, unchanged
from skorch import NeuralNetClassifier


def fastest(problem: Problem) -> Turn:
    """No callbacks, no log, a whole batch at one indexing."""
    network = _classifier(
        problem, verbose=0, callbacks="disable", iterator_train__collate_fn=unchanged
    )
    data = BatchIndexed(problem.inputs, problem.labels)
    return Turn(lambda: network.partial_fit(data, None), network.module_)


def defaults(problem: Problem) -> Turn:
    """Its epoch log and timer on, one sample at a time; the validation split is off."""
    network = _classifier(problem)
    return Turn(lambda: network.partial_fit(problem.inputs, problem.labels), network.module_)


def _classifier(problem: Problem, **settings: Any) -> NeuralNetClassifier:
    network = NeuralNetClassifier(
        problem.network(),
        criterion=torch.nn.CrossEntropyLoss,
        optimizer=torch.optim.Adam,
        max_epochs=problem.epochs,
        batch_size=problem.batch_size,
        train_split=None,  # all samples train, as everywhere else
        iterator_train__shuffle=True,
        **{f"optimizer__{name}": value for name, value in problem.adam_settings.items()},
        **settings,
    )
    return network.initialize()
