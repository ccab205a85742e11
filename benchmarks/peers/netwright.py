"""netwright with its defaults on: progress, history, the training metric, checkpoints."""

from contest import Problem, Turn

import netwright as nw


def netwright_epoch(problem: Problem) -> Turn:
    """One epoch of `problem.network()` on `problem.inputs` and `problem.labels`.

    To be wired to the public API. Everything that can be built beforehand is built here, off the
    clock; `train` is the one call that trains. Adam takes `problem.kernel` ("foreach", "fused").
    """
    raise NotImplementedError(f"not wired up to {nw.__name__} yet")
