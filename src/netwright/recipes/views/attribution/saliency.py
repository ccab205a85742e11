"""The view `saliency` of a run: what its answer to one example is most sensitive to."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Doc, Size
from netwright.core.devices import device_of
from netwright.core.outputs import logits_of
from netwright.data.text.tokenizer import BOS, UNK
from netwright.inspection.attribution.saliency import (
    Method,
    Saliency,
    has_gradient,
    measure_saliency,
)
from netwright.recipes.saved.run_record import RunRecord
from netwright.recipes.views.attribution.explained_answer import (
    AnswerConfig,
    FramesTexts,
    explained_answer,
    shown_input,
    training_mean,
)
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.subject import Subject


@dataclass(frozen=True, kw_only=True)
class SaliencyConfig(AnswerConfig):
    """Which answer is explained, and how."""

    method: Annotated[
        Method, Doc("method: gradient magnitude, input times gradient, or integrated gradients")
    ] = "gradient"
    steps: Annotated[Size, Doc("integration steps of integrated gradients")] = 64


def refusal(subject: Subject) -> str:
    """Only answers that hang on the input by steps that have gradients."""
    run = subject.run
    dtype = torch.int64 if run.spec.vocab_size else torch.float32
    blank = torch.zeros(1, *run.spec.input_shape, dtype=dtype, device=device_of(run.model))
    if run.spec.vocab_size:
        blank += UNK  # not padding: a text of nothing has no length
    if run.spec.source_length:  # what is told never begins like the source
        blank[:, run.spec.source_length :] = BOS
    if has_gradient(run.model, blank, _looked_up(run, blank)):
        return ""
    return f"saliency needs gradients, {subject.name} has none; use `occlusion` instead"


def measure(subject: Subject, settings: SaliencyConfig) -> Saliency:
    """The gradient of one answer, by its logit or, for reals, in the units of the target."""
    run, inputs = subject.run, subject.input_at(settings.example)
    answer = explained_answer(run, inputs, settings)

    def score(output: Any) -> Tensor:
        is_real = run.spec.target == "real"
        return answer.of(run.task.predictions(output) if is_real else logits_of(output))

    shown = shown_input(run, inputs, answer.words)
    if isinstance(run.model, FramesTexts):
        shown = replace(shown, names=tuple(run.model.framed_names(shown.names)))
    is_path = settings.method == "integrated" and inputs.is_floating_point()
    return measure_saliency(
        run.model,
        inputs,
        score,
        shown,
        method=settings.method,
        base=training_mean(subject).to(inputs)[None] if is_path else None,
        steps=settings.steps,
        looked_up=_looked_up(run, inputs),
    )


def _looked_up(run: RunRecord, inputs: Tensor) -> Tensor | None:
    """The tokens that the model looks up for a text, where it puts some of its own around it."""
    return run.model.framed(inputs) if isinstance(run.model, FramesTexts) else None


SALIENCY = ViewEntry(
    card=Card(
        sentence="Which pixels, features, tokens or steps of one example the answer is most "
        "sensitive to, by the gradient of its score.",
        formula=r"g_i = \left| \frac{\partial s}{\partial x_i} \right|, \quad "
        r"a_i = (x_i - b_i) \int_0^1 \frac{\partial s}{\partial x_i}(b + \alpha (x - b)) d\alpha, "
        r"\quad \sum_i a_i = s(x) - s(b)",
        symbols={
            "s": "the score: the logit of the likeliest class, or the real",
            "x": "the input; of tokens the vectors that stand for them",
            "g_i": "the gradient's size at number i of the input",
            "a_i": "its integrated gradient",
            "b": "the base: the training mean, of tokens the zero vector",
        },
        source="Simonyan, Vedaldi and Zisserman (2014), arXiv 1312.6034; Sundararajan, Taly and "
        "Yan (2017), ICML 34, 3319-3328",
    ),
    measure=measure,
    refusal=refusal,
    numbers_only=True,
    one_input=True,
    own_input=True,
    settings=SaliencyConfig,
)
