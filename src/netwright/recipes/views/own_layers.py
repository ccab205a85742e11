"""Which runs have layers to look into: those of one network, not of several or of none."""

from netwright.inspection.inside.watched_layers import has_matrix
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.views.entry import Subject


def refuse_several(subject: Subject, view: str) -> str:
    """Why a view of one model is not of an ensemble, in one sentence; empty of all others."""
    if isinstance(subject.run.model, Ensemble):
        return f"{view} is of one model, {subject.name} has several"
    return ""


def refuse_without_layers(subject: Subject) -> str:
    """Why the model has no layers of its own, in one sentence; empty where it has some."""
    if not has_matrix(subject.run.model):
        return f"layers hold weight matrices, {subject.name} has none"
    return refuse_several(subject, "a view of layers")
