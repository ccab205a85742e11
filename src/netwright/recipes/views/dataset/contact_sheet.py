"""The view `contact-sheet` of a run: what its augmentations make of one training image."""

from typing import cast

from netwright.core.config import NoSettings
from netwright.core.learner import Learner
from netwright.inspection.dataset.contact_sheet import ContactSheet, measure_contact_sheet
from netwright.models.ensembles.ensemble import Ensemble, Member
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.subject import Subject

ROWS = 32  # training images of which one is taken


def _refusal(subject: Subject) -> str:
    """Only where anything in the run learned by gradients saw changed images."""
    if not subject.run.config["train"].get("augment"):
        return "a contact sheet shows augmentations, this run was trained without"
    model = subject.run.model
    members = cast(list[Member], list(model.members)) if isinstance(model, Ensemble) else []
    taught = [member.model for member in members] or [model]
    if all(isinstance(one, Learner) for one in taught):
        return f"augmentations change batches, {subject.name} has its own learning rule"
    return ""


def _measure(subject: Subject, _: NoSettings) -> ContactSheet:
    run = subject.run
    return measure_contact_sheet(
        subject.first_training_inputs(ROWS).cpu(),
        run.config["train"]["augment"],
        run.spec,
        seed=run.config["seed"],
        decode=run.preprocessor.units(),
    )


CONTACT_SHEET = ViewEntry(
    card=report_card("What augmentations make of one training image."),
    measure=_measure,
    refusal=_refusal,
    section="learning",
    has_examples=True,
    code=(measure_contact_sheet,),
)
