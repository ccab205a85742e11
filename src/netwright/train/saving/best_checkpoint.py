"""Which of a run's checkpoints is the best: of those that are there, the one that measured best.

The best measurement of a run need not be among them, where not every epoch is saved: the history
knows it, and `restore_best` puts its weights back. Where it is among them, it is the best.
"""

from collections.abc import Mapping, Sequence

from netwright.train.saving.checkpoint_store import step_of


def find_best(
    saved: Sequence[str],
    before: str | None,
    values: Mapping[int, float],
    *,
    best_step: int,
    min_delta: float = 0.0,
) -> str | None:
    """The best checkpoint; None where none of them was measured.

    What came after the checkpoint that a run went back to is no part of its history: it has no
    value, and is not the best.

    Args:
        saved: the names of the checkpoints that are there, in the order in which they were written.
        before: the best of those that were there before; equals do not take its place.
        values: what was measured, by step; lower is better.
        best_step: of the best measurement.
        min_delta: a better one has to be better by more than this.
    """
    newest = {step_of(name): name for name in saved}  # two of one step have the same weights
    if best_step in newest:
        return newest[best_step]
    measured = {name: values[step] for step, name in newest.items() if step in values}
    best = before if before in measured else None
    for name, value in measured.items():
        if best is None or value < measured[best] - min_delta:
            best = name
    return best
