"""`inspect`: look inside a run, one view at a time, without training anything again.

inspect("runs/lenet-mnist-001", "saliency", example=3).save("seven.svg")
"""

from pathlib import Path
from typing import Any

from netwright.data.dataset import Data
from netwright.data.loading.stored import Sample, sample_stored
from netwright.inspection.drawing.view import View
from netwright.recipes.run.run import Run, open_run
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.subject import Subject


def inspect(run: str | Path | Run, view: str, *, data: Any = None, **settings: Any) -> View:
    """Measure one view of a run.

    Args:
        run: the run, or its folder.
        view: its name; `inspectable` gives those of a run.
        data: other labelled data to look at: a table, a folder, (inputs, targets); by default the
            run's own.
        **settings: of the view: `example=3`, say; `explain` tells of them.
    """
    entry = VIEWS.load(view)
    run = run if isinstance(run, Run) else open_run(run)
    subject = Subject(run, None) if entry.data == "unused" else Subject(run, *_at_hand(run, data))
    return entry.show(subject, settings)


def inspectable(run: str | Path | Run, *, data: Any = None) -> dict[str, str]:
    """The views that a run has, each with the sentence that says what it shows."""
    run = run if isinstance(run, Run) else open_run(run)
    subject = Subject(run, *_at_hand(run, data))
    entries = {name: VIEWS.load(name) for name in VIEWS}
    return {
        name: entry.card.sentence for name, entry in entries.items() if not entry.why_not(subject)
    }


def _at_hand(run: Run, data: Any) -> tuple[Sample | None, str]:
    """A sample of the run's own data, or of what is given in its place, which has one split."""
    if data is None:
        return run.data_at_hand()
    split = run.examples(data)
    given = Data(
        name="the data given",
        spec=run.spec,
        train=split,
        val=split,
        test=split,
        preprocessor=run.preprocessor,
    )
    return sample_stored(given), ""
