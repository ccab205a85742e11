"""`--find-lr`: the learning rates that were tried as a curve of text, and the one to use."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netwright.inspection.training.learning_rate_range import LearningRateRange
    from netwright.recipes.plan.recipe import Recipe

EVERY = 6  # updates a line: two lines for each power of ten
WIDTH = 40  # letters of the curve


def show_learning_rates(
    found: "LearningRateRange", recipe: "Recipe", *, quiet: bool
) -> dict[str, Any]:
    """Print loss against learning rate and the command that trains with the best; give them."""
    from netwright.core.terminal.console import print_result, print_table
    from netwright.recipes.plan.reproduce import as_command

    command = None
    if found.suggestion is not None:
        train = replace(recipe.train, lr=found.suggestion)
        command = as_command(replace(recipe, train=train).to_mapping())
    if not quiet:
        print_table(curve_rows(found))
        print_result(found.caption)
        if command is not None:
            print_result(f"to train with it: {command}")
    return {**found.to_json(), "command": command}


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
