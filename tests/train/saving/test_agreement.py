"""Ranks that would train different things are refused on all of them; machines may differ."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from netwright.core.errors import ConfigError
from netwright.train.ranks import Ranks
from netwright.train.saving.agreement import check_agreement
from netwright.train.saving.conditions import describe_conditions
from netwright.train.settings import TrainConfig
from tests.train.toy_runs import toy_data, toy_net


@dataclass(frozen=True)
class Gathered(Ranks):
    """Ranks of which each gave what is said here, beside this one."""

    others: tuple[dict[str, Any], ...] = ()

    def gather(self, content: bytes, work: str = "") -> list[bytes]:
        return [content, *(json.dumps(one).encode() for one in self.others)]


def described(rows: int = 20, seed: int = 0, **settings: Any) -> dict[str, Any]:
    data, config = toy_data(rows=rows), TrainConfig(epochs=1, **settings)
    return describe_conditions(config, seed=seed, model=toy_net(), data=data, processes=3)


def check(*others: dict[str, Any]) -> None:
    check_agreement(Gathered(world=1 + len(others), others=others), described())


def test_the_same_data_and_settings_are_agreed_on_whatever_the_machines_are() -> None:
    other = {**described(), "threads": 3, "machine": "other", "device": "cuda", "torch": "2.0"}
    check(described(), other)


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (
            described(rows=16),
            r"rank 2 .*rank 0 .*\(from 0 to 2: the train split had 20 rows, has 16",
        ),
        (described(rows=16, batch_size=3), "the train split had 20 rows, has 16"),
        (described(seed=1), "seed was 0, is 1"),
        (described(lr=0.5), "lr was .*, is 0.5"),
    ],
)
def test_the_first_that_differs_is_named(other: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        check(described(), other)
