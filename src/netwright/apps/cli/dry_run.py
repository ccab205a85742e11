"""`--dry-run`: shapes, one batch, and what the whole training would cost."""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netwright.recipes.fitting.prepared import Prepared


MOST_LOOKS = 25  # at the loss in one step of L-BFGS, which searches


def show_dry_run(prepared: "Prepared", *, quiet: bool) -> dict[str, Any]:
    """Print the layers with their shapes, the loss of one batch, and the cost; give the numbers."""
    from netwright.core.config import to_mapping
    from netwright.core.learner import Learner
    from netwright.core.terminal.console import print_result, print_table, print_warning
    from netwright.models.ensembles.ensemble import Ensemble
    from netwright.models.model import Model
    from netwright.recipes.fitting.first_batch import time_step, try_first_batch
    from netwright.recipes.plan.unused_settings import unused_notes
    from netwright.recipes.run.answers import examples_word
    from netwright.train.settings import pace_for

    model, data, task = prepared.model, prepared.data, prepared.task
    rows = {name: split.total for name, split in data.splits()}
    pace = pace_for(prepared.recipe.train, rows["train"])
    first = try_first_batch(model, data, task, pace.batch_size)  # with weights of an old run, too
    by_itself = isinstance(model, Learner | Ensemble)
    batches = seconds = None  # nobody knows beforehand
    looks = 1
    if not by_itself:
        batches = math.ceil(rows["train"] / pace.batch_size) * pace.epochs
        if pace.last_step is not None:
            batches = min(batches, pace.last_step * prepared.recipe.train.accumulate)
        looks = MOST_LOOKS if prepared.recipe.train.rule.closure else 1
        seconds = round(batches * looks * time_step(model, data, task, pace.batch_size), 1)
    numbers = {
        "rows": rows,
        "parameters": first.parameters,
        "batch_size": pace.batch_size,
        "batches": batches,
        "first_loss": None if task.unmeasured else first.loss,
        "estimated_seconds": seconds,
    }
    if quiet:
        return numbers
    for note in unused_notes(prepared.recipe, model, prepared.unused):
        print_warning(note)
    print_table(
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
    counted = ", ".join(f"{name} {count:,}" for name, count in rows.items())
    print_result(f"{examples_word(data.spec)}: {counted}")
    loss = "" if task.unmeasured else f"; loss of the first batch {first.loss:.4f}"
    print_result(f"{first.parameters:,} parameters{loss}")
    if isinstance(model, Ensemble):
        print_result("its members are trained one after the other: try one of them to see its cost")
    elif by_itself:
        epochs = to_mapping(model.config).get("epochs") if isinstance(model, Model) else None
        length = "epochs and" if epochs is None else f"it takes {epochs} epochs,"
        print_result(f"it has its own learning rule: {length} batches do not apply")
    else:
        size = f"{batches:,} batches of {pace.batch_size}"
        length = f"{pace.epochs} epochs" if pace.last_step is None else f"{pace.last_step:,} steps"
        about = "about" if looks == 1 else "at most about"
        print_result(f"{length}, {size}: {about} {seconds:.0f} s here")
    return numbers
