"""netwright with its defaults on: progress, history, the training metric, checkpoints."""

import netwright as nw
from contest import Problem, Turn


def netwright_epoch(problem: Problem) -> Turn:
    """One epoch of `problem.network()` on `problem.inputs` and `problem.labels`.

    To be wired to the public API. Everything that can be built beforehand is built here, off the
    clock; `train` is the one call that trains. Adam takes `problem.kernel` ("foreach", "fused").
    """
    raise NotImplementedError(f"netwright {nw.__name__} has no training call wired up here yet")
