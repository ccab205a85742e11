"""What all sources share: how rows are divided, with refusals at the door."""

import re
from typing import Any

import pytest

from netwright.core.config import describe, parse
from netwright.core.errors import ConfigError
from netwright.data.source import DataConfig
from tests.repetition import for_each


def test_a_tenth_to_choose_by_and_a_fifth_to_report_on() -> None:
    config = DataConfig()
    assert (config.val_size, config.test_size, config.split_seed) == (0.1, 0.2, 0)


def test_every_setting_explains_itself() -> None:
    assert all(field.doc for field in describe(DataConfig))


@for_each(
    ("settings", "sentence"),
    [
        ({"val_size": 1.0}, "data.val_size must be less than 1.0, got 1.0"),
        ({"test_size": -0.1}, "data.test_size must be at least 0.0, got -0.1"),
        ({"split_seed": -1}, "data.split_seed must be at least 0, got -1"),
        ({"val_size": "lots"}, "data.val_size must be a number, got 'lots'"),
        ({"tset_size": 0.1}, "unknown setting 'data.tset_size'; did you mean 'test_size'?"),
    ],
)
def test_refuses_in_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        parse(DataConfig, settings, "data")
