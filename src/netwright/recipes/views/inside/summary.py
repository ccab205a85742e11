"""The view `summary` of a run: its layers, from a real batch where the data is at hand."""

import torch

from netwright.core.config import NoSettings
from netwright.core.devices import device_of
from netwright.core.trees import move
from netwright.inspection.inside.summary import Summary, measure_summary
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.subject import Subject

ROWS = 32  # training examples that go through the model


def _measure(subject: Subject, _: NoSettings) -> Summary:
    run = subject.run
    if subject.sample is None:
        dtype = torch.int64 if run.spec.vocab_size else torch.float32
        batch = torch.zeros(1, *run.spec.input_shape, dtype=dtype)
    else:
        batch = subject.first_training_inputs(ROWS)
    return measure_summary(run.model, move(batch, device_of(run.model)))


def _refusal(subject: Subject) -> str:
    if subject.run.task.unmeasured:
        return f"the layers of a model are summarised as it is called: {subject.absent}"
    if subject.sample is None and subject.run.spec.inputs == "parts":
        return f"a model of several inputs is summarised on its data: {subject.absent}"
    return ""


SUMMARY = ViewEntry(
    card=report_card("The layers a batch goes through, with their sizes and their work."),
    measure=_measure,
    refusal=_refusal,
    data="welcome",
    section="model",
    code=(measure_summary,),
)
