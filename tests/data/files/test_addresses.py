"""Addresses: those with a password, on a forbidden network, or of a scheme that is not read."""

import sys

import pytest

from netwright.core.errors import ConfigError
from netwright.data.files.addresses import check_no_password, is_address, system_of
from netwright.data.shards.source import ImageShardsConfig
from netwright.recipes.plan.recipe import parse_recipe


@pytest.mark.parametrize(
    "address",
    [
        "https://ann:S3cret@host/x.tar",
        "http://S3cret@host/",
        "s3://ann:S3cret@b/x",
        "s3://ann:S3/cret@b/x",
        "https://ann:S3/cret@host/x",
    ],
)
def test_addresses_with_a_password_are_refused_without_repeating_it(address: str) -> None:
    for read in (
        system_of,
        lambda path: ImageShardsConfig(path=path),
        lambda path: parse_recipe({"model": "mlp", "data": path}),
    ):
        with pytest.raises(ConfigError, match="holds a user name or a password") as refusal:
            read(address)
        assert "cret" not in str(refusal.value)
    check_no_password("https://host:80/a:b@c.tar")
    check_no_password("abfs://box@account.dfs.core.windows.net/a:b@c.tar")
    check_no_password("hf://datasets/owner/name@main/data/*.parquet")


def test_addresses_with_a_signature_are_refused_without_repeating_it() -> None:
    for name in ("sig", "a=b&X-Amz-Signature", "X-Goog-Signature", "token", "a=b&private_token"):
        with pytest.raises(ConfigError, match="holds a signature or a token") as refusal:
            ImageShardsConfig(path=f"https://host/x.tar?{name}=S3cret")
        assert "S3cret" not in str(refusal.value)
    check_no_password("https://host/tokens/sig=1.csv?version=2&design=3")
    check_no_password("folder?token=1")


def test_a_scheme_makes_an_address() -> None:
    assert is_address("s3://bucket/x") and not is_address("folder/s3/x")
    assert system_of("memory://shards/x")[1] == "/shards/x"


def test_what_cannot_be_reached_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    with pytest.raises(ConfigError, match=r"s3://b/x lies on the network, which NETWRIGHT_OFFLINE"):
        system_of("s3://b/x")
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(ConfigError, match=r"s3:// needs the package s3fs: pip install s3fs"):
        system_of("s3://b/x")
    monkeypatch.setitem(sys.modules, "adlfs", None)
    with pytest.raises(ConfigError, match=r"az:// needs the package adlfs: pip install adlfs"):
        system_of("az://b/x")
    for address in ("ssh://host/x", "file:///etc", "simplecache::s3://b/x", "reference://x"):
        with pytest.raises(ConfigError, match=r"has no scheme that is read, wanted a path or one"):
            system_of(address)
