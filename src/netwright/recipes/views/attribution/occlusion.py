"""The view `occlusion` of a run: what its answer to one example rests on."""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Doc, Size
from netwright.core.evaluation import evaluating
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tokenizer import UNK
from netwright.inspection.attribution.occlusion import (
    Occlusion,
    measure_occlusion,
    patches,
    single_parts,
)
from netwright.recipes.views.attribution.explained_answer import (
    AnswerConfig,
    explained_answer,
    shown_input,
    training_mean,
)
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.subject import Subject

PATCHES = 7  # along the longer side of an image


@dataclass(frozen=True, kw_only=True)
class OcclusionConfig(AnswerConfig):
    """Which answer is explained, and what is hidden."""

    patch: Annotated[
        Size | None, Doc("side of the occluding patch, in pixels; default: a seventh of the image")
    ] = None


def refusal(subject: Subject) -> str:
    """Tokens are hidden behind the unknown token, which symbols do not have."""
    run = subject.run
    if not run.spec.vocab_size or isinstance(run.preprocessor, TextEncoder | PairEncoder):
        return ""
    return "occlusion replaces tokens by the unknown token, these symbols have none"


def measure(subject: Subject, settings: OcclusionConfig) -> Occlusion:
    """The fall of one probability, or of a real, with each part hidden in turn."""
    run, inputs = subject.run, subject.input_at(settings.example)
    answer = explained_answer(run, inputs, settings)
    shown = shown_input(run, inputs, answer.words)
    shape = run.spec.input_shape
    if shown.kind == "image":
        parts = patches(shape, settings.patch or -(-max(shape[1:]) // PATCHES))
    else:
        count = len(shown.names) if shown.kind == "tokens" else shape[0]
        parts = single_parts(shape, count)

    def ask(changed: Tensor) -> Tensor:
        with evaluating(run.model):
            return answer.of(run.task.predictions(run.model(changed)))

    is_tokens = shown.kind == "tokens"
    return measure_occlusion(
        ask,
        inputs,
        shown,
        filling=torch.full_like(inputs[0], UNK) if is_tokens else training_mean(subject).to(inputs),
        parts=parts,
        quantity="value" if run.spec.target == "real" else "probability",
        hidden="the unknown token" if is_tokens else "the training mean",
    )


OCCLUSION = ViewEntry(
    card=Card(
        sentence="How far the answer to one example falls when a patch, a feature, a token or a "
        "step of it is hidden; it works for any model.",
        formula=r"f_P = p(x) - p(x^P), \quad x^P_i = m_i \ (i \in P), \ x_i \ (i \notin P)",
        symbols={
            "p": "the probability of the likeliest class, or the real",
            "P": "the part that is hidden",
            "m": "what stands in for it: the training mean, of tokens the unknown one",
            "f_P": "the fall; of a linear model and one feature w_i (x_i - m_i)",
        },
        source="Zeiler and Fergus (2014), ECCV 13, 818-833",
    ),
    measure=measure,
    refusal=refusal,
    numbers_only=True,
    one_input=True,
    own_input=True,
    settings=OcclusionConfig,
)
