"""`--dry-run`: shapes, one batch, and what the whole training would cost."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netwright.recipes.fit import Prepared


def show_dry_run(prepared: "Prepared", *, as_json: bool) -> None:
    """Shapes, parameters, the loss of one batch, and what the whole training would cost."""
    from netwright.core.console import give, give_json, give_table

    first, recipe = prepared.first_batch, prepared.recipe
    batches = -(-len(prepared.data.train) // (recipe.train.batch_size or 1))
    steps = batches * recipe.train.epochs
    rows = {name: len(split) for name, split in prepared.data.splits()}
    summary = {
        "rows": rows,
        "parameters": first.parameters,
        "batch_size": recipe.train.batch_size,
        "steps": steps,
        "first_loss": first.loss,
        "estimated_seconds": round(first.seconds * steps, 1),
    }
    if as_json:
        give_json(summary)
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
    give(
        f"{recipe.train.epochs} epochs x {batches} batches of {recipe.train.batch_size}: "
        f"about {summary['estimated_seconds']:.0f} s here"
    )
