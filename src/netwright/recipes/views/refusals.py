"""Which runs a view does not suit, in one sentence: refusals that several views share."""

from collections.abc import Callable, Mapping

from netwright.data.spec import TargetKind
from netwright.inspection.inside.watched_layers import has_matrix
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.views.subject import Subject

IN_WORDS: Mapping[TargetKind, str] = {
    "class": "classes",
    "labels": "labels",
    "real": "real values",
    "mask": "masks",
    "boxes": "boxes",
    "tokens": "tokens",
    "tags": "tags",
    "span": "spans",
    "none": "no target",
}
THE_OTHERS = "`netwright inspect RUN` lists the views that a run has"


def only_of(view: str, *targets: TargetKind) -> Callable[[Subject], str]:
    """A refusal of all runs but those that predict one of these.

    Args:
        view: what it shows, with its verb: "residuals are".
        targets: what runs that have the view predict.
    """
    wanted = " or ".join(IN_WORDS[target] for target in targets)

    def refusal(subject: Subject) -> str:
        target = subject.run.spec.target
        if target in targets:
            return ""
        return f"{view} for {wanted}, this run predicts {IN_WORDS[target]}; {THE_OTHERS}"

    return refusal


def refuse_several(subject: Subject, view: str) -> str:
    """Why a view of one model is not of an ensemble, in one sentence; empty of all others."""
    if isinstance(subject.run.model, Ensemble):
        return f"{view} is for a single model, {subject.name} has several"
    return ""


def refuse_without_layers(subject: Subject) -> str:
    """Why the model has no layers of its own, in one sentence; empty where it has some."""
    if not has_matrix(subject.run.model):
        return f"this view needs weight matrices, {subject.name} has none"
    return refuse_several(subject, "a view of layers")
