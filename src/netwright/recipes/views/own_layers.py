"""Which runs have layers to look into: those of one network, not of several or of none."""

from netwright.inspection.watched_layers import has_matrix
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.views.entry import Subject


def refuse_without_layers(subject: Subject) -> str:
    """Why the model has no layers of its own, in one sentence; empty where it has some."""
    model = subject.run.model
    if isinstance(model, Ensemble):
        return "an ensemble has no layers of its own: its members are models beside each other"
    if not has_matrix(model):
        return f"layers hold weight matrices, {type(model).__name__} has none"
    return ""
