"""The view `attention-rollout` of a run: where a vision transformer's answer comes from.

Shapes: B images, H heads, T tokens.
"""

from collections.abc import Sequence
from typing import Protocol, cast, runtime_checkable

from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import NoSettings
from netwright.core.devices import device_of
from netwright.core.evaluation import evaluating
from netwright.data.loading.stored import evenly_spaced
from netwright.inspection.inside.attention_rollout import (
    MOST_IMAGES,
    AttentionRollout,
    measure_attention_rollout,
    roll_out,
)
from netwright.recipes.views.attribution.explained_answer import output_names
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.subject import Subject


@runtime_checkable
class AttendsToPatches(Protocol):
    """A model of images whose patches look at each other."""

    def patch_side(self) -> int:
        """The pixels of a patch along each side."""

    def attention_weights(self, images: Tensor, /) -> Sequence[Tensor]:
        """The weights (B, H, T, T) of each layer."""


def _refusal(subject: Subject) -> str:
    if isinstance(subject.run.model, AttendsToPatches):
        return ""
    return f"attention rollout is of a vision transformer over patches, {subject.name} has none"


def _measure(subject: Subject, _: NoSettings) -> AttentionRollout:
    run, model = subject.run, cast(AttendsToPatches, subject.run.model)
    rows = evenly_spaced(len(subject.split), MOST_IMAGES)
    images: Tensor = subject.inputs[rows].to(device_of(run.model))
    with evaluating(run.model):
        layers = model.attention_weights(images)
    said, names = subject.predict(images), output_names(run)
    words = (
        [names[place] for place in said.argmax(dim=1).tolist()]
        if run.spec.target == "class"
        else [""] * len(images)
    )
    return measure_attention_rollout(
        layers, subject.inputs_as_shown[rows], words, model.patch_side()
    )


ATTENTION_ROLLOUT = ViewEntry(
    card=Card(
        sentence="Where in an image a vision transformer's class token looks, through all layers.",
        formula=r"R_l = \tfrac{1}{2} (\bar{A}_l + I)\, R_{l-1}",
        source='Abnar and Zuidema, "Quantifying Attention Flow in Transformers" (2020)',
    ),
    measure=_measure,
    refusal=_refusal,
    section="inside",
    has_examples=True,
    code=(measure_attention_rollout, roll_out),
)
