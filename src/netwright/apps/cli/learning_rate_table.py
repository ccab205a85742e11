"""`--find-lr`: the learning rates that were tried as a curve of text, and the one to use."""

import shlex
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from netwright.inspection.learning_rate_range import LearningRateRange

EVERY = 6  # updates a line: two lines for each power of ten
WIDTH = 40  # letters of the curve
LEFT_OUT = {"find_lr", "as_json", "lr"}  # what the next command is not to repeat


def show_learning_rates(
    found: "LearningRateRange", context: typer.Context, *, as_json: bool
) -> None:
    """Print loss against learning rate, what it means, and the command that trains with it.

    Args:
        found: what was measured.
        context: the command as it was typed.
        as_json: print the numbers instead.
    """
    from netwright.core.console import give, give_json, give_table

    command = None if found.suggestion is None else next_command(context, found.suggestion)
    if as_json:
        give_json({**found.to_json(), "command": command})
        return
    give_table(curve_rows(found))
    give(found.caption)
    if command is not None:
        give(f"to train with it: {command}")


def curve_rows(found: "LearningRateRange") -> list[dict[str, str]]:
    """Every sixth rate with its smoothed loss, also as a place between the left and the right."""
    low, high = found.window
    return [
        {
            "lr": f"{found.lr[update]:.2g}",
            "loss": f"{loss:.4g}",
            "": " " * round(WIDTH * min(1.0, (loss - low) / (high - low))) + "*>"[loss > high],
        }
        for update, loss in enumerate(found.smoothed)
        if update % EVERY == 0
    ]


def next_command(context: typer.Context, lr: float) -> str:
    """The command that was typed, with this learning rate in place of the search."""
    words = ["netwright", "train"]
    for option in context.command.params:
        name = option.name or ""
        source = context.get_parameter_source(name)
        if name in LEFT_OUT or source is None or source.name != "COMMANDLINE":
            continue
        words += _typed(option, context.params[name])
    return shlex.join([*words, "--lr", f"{lr:g}"])


def _typed(option: Any, value: Any) -> list[str]:
    """One option as it is typed: a flag alone, a list once for each of its values."""
    if option.param_type_name == "argument":
        return [str(value)]
    name = option.opts[0]
    if value is True:
        return [name]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for one in values for word in (name, str(one))]
