"""Addresses of files that lie elsewhere, read by fsspec.

    s3://bucket/shards/*.tar    gs://...    hf://datasets/owner/name/data/*.parquet    memory://...

A user name, a password or a signature in one is refused: runs keep the address.
"""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.data.files.download import is_offline
from netwright.data.files.file_names import shown

LOCAL = "memory"  # the scheme that needs no network
# Scheme -> the package that reads it. Others run programs, or read what names further addresses.
SCHEMES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("az", "abfs", "abfss"), "adlfs"),
    **dict.fromkeys(("http", "https"), "aiohttp"),
    "hf": "huggingface_hub",
    LOCAL: "fsspec",
}
# A secret may hold a slash; of a server, what stands behind a colon may be its port.
_PASSWORD = re.compile(
    r"https?://[^/?#]*@|https?://[^/?#@]*:(?!\d*/).*@|(?<!http)(?<!https)://[^/?#@]*:.*@",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(
    r"[?&;][^=&;]*(?:sig|signature|token|secret|password|api[_-]?key)=", re.IGNORECASE
)


def is_address(path: str) -> bool:
    """Whether this names a place elsewhere: it has a scheme."""
    return "://" in path


def check_no_password(path: str) -> None:
    """Refuse an address with a password or a signature, which the run's recipe would keep.

    In abfs://container@account.dfs.core.windows.net nobody is named.
    """
    if _PASSWORD.search(path):
        raise ConfigError(
            "the address holds a user name or a password, which runs would keep in config.yaml: "
            "leave it out, and give it to the system in the way of its package"
        )
    if is_address(path) and _SIGNATURE.search(path):
        raise ConfigError(
            "the address holds a signature or a token, which runs would keep in config.yaml: copy "
            "what lies there to this machine"
        )


def system_of(address: str) -> tuple[Any, str]:
    """The file system of an address, made in this process, and the place there."""
    check_no_password(address)
    scheme = address.partition("://")[0].lower()
    if scheme not in SCHEMES:  # also "a::b", which is one address inside another
        raise ConfigError(
            f"{shown(address)} has no scheme that is read, wanted a path or one of "
            f"{', '.join(f'{name}://' for name in SCHEMES)}"
        )
    if is_offline() and scheme != LOCAL:
        raise ConfigError(
            f"{shown(address)} lies on the network, which NETWRIGHT_OFFLINE forbids: unset it, or "
            f"give a folder on this machine"
        )
    try:
        import fsspec  # noqa: PLC0415 - slow to import

        system, place = fsspec.url_to_fs(address)
    except ImportError:
        raise ConfigError(
            f"{scheme}:// needs the package {SCHEMES[scheme]}: pip install {SCHEMES[scheme]}"
        ) from None
    except Exception as error:  # each of these packages has errors of its own
        raise DataError(f"{shown(address)} cannot be read: {reason(error)}") from None
    return system, place


@contextlib.contextmanager
def telling_of(address: str) -> Iterator[None]:
    """Whatever goes wrong with an address is told in one sentence."""
    try:
        yield
    except (NetwrightError, GeneratorExit):
        raise
    except FileNotFoundError:
        raise DataError(f"{shown(address)}: there is no such file or folder") from None
    except Exception as error:  # each of these packages has errors of its own
        raise DataError(f"{shown(address)} cannot be read: {reason(error)}") from None


def reason(error: Exception) -> str:
    """The first line of what an error says."""
    return shown((str(error) or type(error).__name__).partition("\n")[0])[:200]
