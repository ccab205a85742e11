"""`--dry-run`: shapes, one batch, and what the whole training would cost."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netwright.recipes.fit import Prepared


def show_dry_run(prepared: "Prepared", *, as_json: bool) -> None:
    """Print the layers with their shapes, the loss of one batch, and the cost."""
    from netwright.core.console import give, give_json, give_table
    from netwright.core.learner import Learner

    first, config = prepared.first_batch, prepared.recipe.train
    rows = {name: len(split) for name, split in prepared.data.splits()}
    steps = 0 if isinstance(prepared.model, Learner) else _steps(prepared)
    seconds = steps * _step_seconds(prepared) if steps else 0.0
    if as_json:
        give_json(
            {
                "rows": rows,
                "parameters": first.parameters,
                "batch_size": config.batch_size,
                "steps": steps,
                "first_loss": first.loss,
                "estimated_seconds": round(seconds, 1),
            }
        )
        return
    give_table(
        [
            {
                "layer": layer.path,
                "kind": layer.kind,
                "output": str(layer.shape),
                "parameters": f"{layer.parameters:,}",
            }
            for layer in first.layers
        ]
    )
    give(f"rows: {', '.join(f'{name} {count:,}' for name, count in rows.items())}")
    give(f"{first.parameters:,} parameters; loss of the first batch {first.loss:.4f}")
    if steps:
        give(
            f"{config.epochs} epochs, {steps:,} steps of {config.batch_size}: {seconds:.0f} s here"
        )
    else:
        give("it learns by a rule of its own: epochs and batches do not apply")


def _steps(prepared: "Prepared") -> int:
    config = prepared.recipe.train
    batches = -(-len(prepared.data.train) // (config.batch_size or 1))
    return batches * config.epochs


def _step_seconds(prepared: "Prepared") -> float:
    from netwright.recipes.first_batch import time_step

    size = prepared.recipe.train.batch_size or len(prepared.data.train)
    return time_step(prepared.model, prepared.data, prepared.task, size)
