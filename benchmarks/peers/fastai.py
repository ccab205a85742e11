"""fastai: `Learner.fit` with torch's Adam in its `OptimWrapper` (its own Adam has no kernels)."""

from functools import partial

import torch
from contest import Problem, Turn
from fastai.callback.core import Callback, CancelValidException
from fastai.callback.progress import ProgressCallback
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from fastai.optimizer import OptimWrapper
from torch.utils.data import DataLoader


class NoValidation(Callback):
    """`fit` always validates: step out before the first batch of it."""

    def before_validate(self) -> None:
        raise CancelValidException


def fastest(problem: Problem) -> Turn:
    """No progress bar, no log, a whole batch at one indexing; its recorder of losses stays."""
    learner = _learner(problem, problem.batch_loader())
    learner.remove_cb(ProgressCallback)
    learner.logger = unlogged
    return Turn(lambda: learner.fit(problem.epochs, problem.lr), learner.model)


def defaults(problem: Problem) -> Turn:
    """Its progress bar and log on, one sample at a time; validation is off."""
    learner = _learner(problem, problem.item_loader())
    return Turn(lambda: learner.fit(problem.epochs, problem.lr), learner.model)


def unlogged(line: object) -> None:
    """Say nothing at the end of an epoch."""


def _learner(problem: Problem, loader: DataLoader) -> Learner:
    settings = {name: value for name, value in problem.adam_settings.items() if name != "lr"}
    adam = partial(OptimWrapper, opt=torch.optim.Adam, **settings)
    return Learner(
        DataLoaders(loader, []),
        problem.network(),
        loss_func=torch.nn.functional.cross_entropy,
        opt_func=adam,
        lr=problem.lr,
        cbs=[NoValidation()],
    )
