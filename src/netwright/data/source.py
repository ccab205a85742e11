"""A named source of data: its settings, how it is loaded, and what there is to know about it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from netwright.core.config import Config, Count, Doc, Fraction
from netwright.data.dataset import Data
from netwright.data.spec import InputKind


@dataclass(frozen=True, kw_only=True)
class DataConfig(Config):
    """What all sources share: how the rows are divided."""

    val_size: Annotated[Fraction, Doc("fraction of the rows held out for validation")] = 0.1
    test_size: Annotated[Fraction, Doc("fraction of the rows held out for testing")] = 0.2
    split_seed: Annotated[
        Count,
        Doc("random seed of the split; independent of the run's seed, so that runs are comparable"),
    ] = 0


@dataclass(frozen=True, kw_only=True)
class Source:
    """A row's part in the catalog of data.

    Args:
        config: the settings that it takes; a `DataConfig` where its rows are ours to divide.
        load: settings -> data.
        sentence: what it is, with its size.
        origin: the paper or address it comes from.
        licence: under what terms.
        inputs: what its examples may be, where its files need not be read to know.
        reload: settings and the preprocessor of a run -> its data, encoded by that instead of one
            that is inferred anew; None where nothing is inferred.
        published: whether its files are looked for in NETWRIGHT_DATA, and fetched where they are
            not there.
    """

    config: type[Config]
    load: Callable[[Any], Data]
    sentence: str
    origin: str
    licence: str
    inputs: tuple[InputKind, ...] = ()
    reload: Callable[[Any, Any], Data] | None = None
    published: bool = False
