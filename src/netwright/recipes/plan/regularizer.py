"""A regularizer: where it acts, what to set for it, and its card."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from netwright.core.card import Card
from netwright.core.config import Config, Field, describe
from netwright.models.catalog import MODELS
from netwright.train.settings import TrainConfig

Acts = Literal["loss term", "layer option", "callback", "data transform", "optimizer", "ensemble"]


class FirstSetting(Field):
    """A setting with a strength to begin with in the place of its default."""


@dataclass(frozen=True, kw_only=True)
class Regularizer:
    """A row's part in the table of regularizers.

    Args:
        card: sentence, formula, symbols, source.
        acts: where.
        first: the settings that turn it on, each with a strength to begin with; "train.l1",
            "model.dropout" ... as `--set` takes them.
        code: the functions that compute it.
        model: the model whose settings "model. ..." are, of those that have them.
    """

    card: Card
    acts: Acts
    first: Mapping[str, Any]
    code: tuple[Callable[..., Any], ...]
    model: str = "mlp"

    def settings(self) -> tuple[FirstSetting, ...]:
        """What to set, and the strengths to begin with."""
        known: dict[str, type[Config]] = {
            "train": TrainConfig,
            "model": MODELS.load(self.model).settings,
        }
        fields = {
            f"{section}.{field.name}": field
            for section, config in known.items()
            for field in describe(config)
        }
        return tuple(
            FirstSetting(name=name, kind=fields[name].kind, default=value, doc=fields[name].doc)
            for name, value in self.first.items()
        )
