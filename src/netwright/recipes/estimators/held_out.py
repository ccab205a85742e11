"""Which share of the rows an estimator holds out, to keep the weights that are best on them.

A network goes on to learn its rows by heart: its probabilities become certain and its reals follow
the noise, long after it is at its best on other rows. So where nobody says how long to train, a
tenth of the rows choose the epoch, as they do in `nw.fit`. What is trained to the optimum of a
convex loss needs no such choice, nor does a model with a rule of its own.

Source: Prechelt, "Early Stopping - But When?" (1998).
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from netwright.core.config import field_names, parse
from netwright.core.errors import ConfigError
from netwright.core.learner import Learner
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.plan.given_settings import given_to
from netwright.recipes.plan.named_recipe import OwnModel

ValSize = float | Literal["auto"]

SHARE = 0.1
FEWEST = 50  # rows: a tenth of fewer is hardly five, which say little
SAYS_HOW_LONG = frozenset({"epochs", "max_steps", "max_time", "patience", "monitor"})


def held_out_share(
    val_size: ValSize,
    *,
    early_stopping: bool,
    model: str | OwnModel,
    settings: Mapping[str, Any],
    rows: int | None,
) -> float:
    """The share of the rows that is not learned from.

    Args:
        val_size: as the estimator has it.
        early_stopping: whether rows that are held out end the training.
        model: the name of a model, or one's own.
        settings: as they were given.
        rows: how many there are; None: that is yet to be found out, and refused.
    """
    if isinstance(val_size, str) and val_size != "auto":
        raise ConfigError(f"val_size must be a number or 'auto', got {val_size!r}")
    if early_stopping and not (val_size != "auto" and val_size):
        if rows and not round(SHARE * rows):
            raise ConfigError(
                f"early_stopping holds out {SHARE:.0%} of the rows, {rows} are too few: give "
                "val_size, or set early_stopping=False"
            )
        return SHARE
    if val_size != "auto":
        return val_size
    is_open = given_to("train", settings).keys().isdisjoint(SAYS_HOW_LONG)
    is_much = rows is not None and rows >= FEWEST
    return SHARE if is_open and is_much and _learns_by_heart(model, settings) else 0.0


def count_rows(y: Any) -> int | None:
    """The rows of targets that are yet to be checked; None where that is no array and no list."""
    shape = getattr(y, "shape", None)  # a sparse matrix has no length
    if shape is None and hasattr(y, "__array__"):
        shape = np.asarray(y).shape
    if shape is not None:
        return int(shape[0]) if shape else None
    return len(y) if hasattr(y, "__len__") else None


def _learns_by_heart(model: str | OwnModel, settings: Mapping[str, Any]) -> bool:
    """Whether it is a network that is trained pass by pass, and not linear in its weights."""
    if not isinstance(model, str):
        return True
    kind = MODELS.load(model)
    if issubclass(kind, Learner | Ensemble):
        return False
    known = field_names(kind.settings)
    given = {name: one for name, one in given_to("model", settings).items() if name in known}
    return not kind.is_linear(parse(kind.settings, given, "model"))
