"""What every model of the catalog is: an `nn.Module` with settings, a spec and a card."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.errors import ConfigError
from netwright.core.learner import Examples
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.inspection.drawing.page import code, folded, text
from netwright.inspection.drawing.view import View

Functions = tuple[Callable[..., Any], ...]

IN_WORDS: Mapping[InputKind, str] = {
    "image": "images",
    "tokens": "text (tokens)",
    "masked": "masked text",
    "series": "series",
    "pairs": "pairs of texts",
    "features": "a table of features",
    "parts": "several inputs",
}


class Model(nn.Module, ABC):
    """The abstract kind: `build` fits a model to the data, `forward` gives its outputs.

    A classifier gives one logit a class (B, C), a regressor one real an output (B, K).

    A subclass declares its settings, its card, and the inputs and targets it takes; where `forward`
    only calls the layers that compute the formula of the card, `code` names their functions.
    `apart` are inputs and targets that do not go together, with the reason; `task_parts` are parts
    that only some kinds of target have, so that weights from another task may lack them.
    `embeds`: it has vectors for categories that are given by their places.
    `says_spans`: plain text is given to it with spans left out, which it says. `shares_blocks`:
    weights of a block are also used outside of it, so that sharded weights are gathered as a whole.
    """

    settings: ClassVar[type[Config]]
    card: ClassVar[Card]
    code: ClassVar[Functions] = ()
    inputs: ClassVar[frozenset[InputKind]]
    targets: ClassVar[frozenset[TargetKind]]
    apart: ClassVar[Mapping[tuple[InputKind, TargetKind], str]] = MappingProxyType({})
    task_parts: ClassVar[frozenset[str]] = frozenset()
    embeds: ClassVar[bool] = False
    says_spans: ClassVar[bool] = False
    shares_blocks: ClassVar[bool] = False

    def __init__(self, config: Config, spec: DataSpec) -> None:
        super().__init__()
        self.config, self.spec = config, spec

    @classmethod
    @abstractmethod
    def build(cls, config: Any, spec: DataSpec) -> Self:
        """The model for this data; weights are drawn from torch's generator."""

    def _repr_html_(self) -> str:
        count = sum(weight.numel() for weight in self.parameters())
        said = text(f"{type(self).__name__}, {count:,} weights: {self.card.sentence}")
        return said + folded("Its layers", code(repr(self)))

    @classmethod
    def is_linear(cls, config: Any) -> bool:
        """Whether outputs are linear in the weights: convex losses then have one optimum."""
        return False

    def word_table(self) -> Tensor | None:
        """The vectors of the tokens read (V, D), one a row; None where there is no such table."""
        return None

    def told_table(self) -> Tensor | None:
        """The vectors of the tokens that a decoder is told, where they are not those it reads."""
        return None

    def own_views(self, examples: Examples) -> Mapping[str, View]:
        """The views that only this kind of model has, by name; the report shows them.

        Args:
            examples: encoded, of the split that the results tell of.
        """
        return {}


def check_reads(model: type[Model], name: str, inputs: Collection[InputKind]) -> None:
    """Refuse a model that can read none of these kinds of inputs."""
    if not model.inputs.intersection(inputs):
        words = [words for kind, words in IN_WORDS.items() if kind in model.inputs]
        wanted = " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
        got = " or ".join(IN_WORDS[kind] for kind in inputs)
        raise ConfigError(f"{name} needs {wanted}, got {got}")


def check_fits(model: type[Model], name: str, spec: DataSpec) -> None:
    """Refuse a model that cannot read these inputs or predict these targets."""
    check_reads(model, name, [spec.inputs])
    if spec.target not in model.targets:
        wanted = ", ".join(sorted(model.targets))
        raise ConfigError(f"{name} predicts {wanted}, got a target of kind {spec.target!r}")
    if spec.feature_levels and not model.embeds:
        raise ConfigError(
            f"{name} has no vectors for embedded categories: remove data.categories=embedded"
        )
    if (spec.inputs, spec.target) in model.apart:
        raise ConfigError(f"{name} {model.apart[spec.inputs, spec.target]}")
