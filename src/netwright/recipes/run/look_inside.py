"""`inspect`: look inside a run, one view at a time, without training anything again.

inspect("runs/lenet-mnist-001", "saliency", example=3).save("seven.svg")
inspect("runs/gpt-notes-001", "attention", of="the cat sat on the mat").save("cat.svg")
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError
from netwright.core.trees import Tree
from netwright.data.dataset import Data
from netwright.data.loading.stored import Sample, sample_stored
from netwright.inspection.drawing.view import View
from netwright.recipes.run.own_input import encode_own
from netwright.recipes.run.run import Run, open_run
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.subject import Found, Subject


def inspect(
    run: str | Path | Run, view: str, *, data: Any = None, of: Any = None, **settings: Any
) -> View:
    """Measure one view of a run.

    Args:
        run: the run, or its folder.
        view: its name; `inspectable` gives those of a run.
        data: other labelled data to look at: a table, a folder, (inputs, targets); by default the
            run's own.
        of: an input of your own in the place of an example, for views of one input: a row as a
            dict or a list of numbers, a text, an image or its path.
        **settings: of the view: `example=3`, say; `explain` tells of them.
    """
    if of is not None and "example" in settings:
        raise ConfigError("give either an example of the data or an input of your own, not both")
    run = run if isinstance(run, Run) else open_run(run)
    own = None if of is None else encode_own(run, of)
    return look_at(run, view, settings, data=data, own=own)


def look_at(
    run: Run,
    view: str,
    settings: Mapping[str, Any],
    *,
    data: Any = None,
    own: Tree = None,
    find: Callable[[], Found] | None = None,
) -> View:
    """The same with an own input (1, ...) that is encoded; `find` gives data that is needed."""
    entry = VIEWS.load(view)
    if own is not None and data is None:
        subject = Subject(run, find or run.data_at_hand, own=own)  # which may not be needed
    else:
        found = (None, "") if entry.data == "unused" else _at_hand(run, data)
        subject = Subject(run, *found, own=own)
    return entry.show(subject, dict(settings))


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
