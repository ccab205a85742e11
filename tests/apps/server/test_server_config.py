"""What a server allows: rows by their size, and settings that make sense."""

import pytest

from netwright.apps.server.server_config import MOST_NUMBERS, ServerConfig
from netwright.core.errors import ConfigError


def test_rows_that_are_encoded_to_many_numbers_may_be_fewer() -> None:
    config = ServerConfig(max_rows=1000)
    assert config.rows_of(10) == 1000
    assert config.rows_of(MOST_NUMBERS // 4) == 4
    assert config.rows_of(10 * MOST_NUMBERS) == 1
    assert config.rows_of(0) == 1000


def test_the_largest_body_is_in_megabytes() -> None:
    assert ServerConfig(max_body=0.5).body_bytes == 500_000


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"max_body": 0}, "max_body must be greater than 0"),
        ({"max_batch": 0}, "max_batch must be greater than 0"),
        ({"timeout": 1e9}, "timeout must be at most 3600"),
        ({"timeout": float("nan")}, "timeout must be"),
    ],
)
def test_refuses_in_one_sentence(settings: dict[str, float], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        ServerConfig(**settings)  # type: ignore[arg-type]
