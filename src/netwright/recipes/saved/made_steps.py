"""How far a run got, in steps, and where its best weights are; older runs know only epochs."""

from typing import Any, Protocol

from netwright.train.watching.history import History


class Learned(Protocol):
    """A run that has learned."""

    results: dict[str, Any]
    config: dict[str, Any]
    history: History


def steps_made(run: Learned) -> int:
    """Updates that were made."""
    known: int | None = run.results.get("steps")
    return max((row.step for row in run.history), default=0) if known is None else known


def best_moment(run: Learned) -> dict[str, int | None]:
    """The epoch and the step whose weights were kept; none where the first epoch did not end.

    What was measured last is then all there is: it is no choice.
    """
    results = run.results
    step = results.get("best_step")
    if not results["epochs"] and step in {None, results.get("steps")}:
        return {"best_epoch": None, "best_step": None}
    return {"best_epoch": results["best_epoch"], "best_step": step}


def length_in_words(run: Learned, word: str = "epoch") -> str:
    """How many epochs the run made; steps where these are its length, or it made no whole one."""
    results = run.results
    if not results["epochs"]:
        return f"{counted(steps_made(run), 'step')} of the first epoch"
    if "steps" in results and run.config["train"].get("epochs") is None:
        return counted(results["steps"], "step")
    return counted(results["epochs"], word)


def best_tile(run: Learned) -> tuple[str, str, str]:
    """The epoch whose weights were kept, or the step where it may lie within one."""
    results = run.results
    if not results["epochs"] or run.config["train"].get("eval_every"):
        made = steps_made(run)
        return "best step", f"{results.get('best_step', made):,}", f"of {made:,}"
    return "best epoch", f"{results['best_epoch']}", f"of {results['epochs']}"


def counted(count: int, word: str) -> str:
    """A count with its word: 1 epoch, 2 epochs."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
