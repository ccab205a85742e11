"""Addresses of servers: what is refused, and that no refusal repeats a password."""

import pytest

from netwright.core.errors import ConfigError
from netwright.recipes.search.server_address import check_address, is_address
from tests.repetition import for_each


@for_each(
    "address",
    [
        "postgresql://u@host:5433/n",
        "postgresql:///n?host=/run/postgresql",
        "postgresql://u@host/n?sslmode=verify-full&sslrootcert=/ca.pem",
    ],
)
def test_addresses_without_a_password_are_taken(address: str) -> None:
    assert is_address(address)
    check_address(address)


@for_each(
    "address, reason",
    [
        ("mysql://u:Secret@h/n", "an address like postgresql://USER@HOST/DATABASE, got one of 'my"),
        ("postgresql://u:Secret@h/n", "without a password, .*: set PGPASSWORD, or .*pgpass"),
        ("postgresql://u@h/n?password=Secret", "without a password"),
        ("postgresql://u@h/", "must name a database"),
        ("postgresql://u@h", "must name a database"),
        ("postgresql://u@h:Secret/n", "got another form"),
        ("postgresql://u@h/n?sslmod=require", "unknown option 'sslmod'.*sslmode"),
        ("postgresql://u@h/n?options=Secret", "unknown option 'options'"),
    ],
)
def test_what_is_refused_and_a_password_is_not_repeated(address: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as refused:
        check_address(address)
    assert "Secret" not in str(refused.value)


def test_kinds_of_files_are_no_addresses() -> None:
    assert not is_address("journal")
