"""Fetching the files of a data set: from the machine where they are there, else from the network.

A file is taken only if its size and its sha256 are the published ones. It arrives under a temporary
name and is renamed when it is whole, so two processes may fetch at once and nothing partial is
ever seen. NETWRIGHT_OFFLINE=1 guarantees that no connection is opened.
"""

import hashlib
import os
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from netwright.core.errors import DataError, DownloadError
from netwright.core.files.inside import new_name, open_folder
from netwright.core.files.storage import sha256_of
from netwright.core.terminal.console import Bar
from netwright.data.files.locations import cache_folder, find_file

TIMEOUT = 30.0  # seconds without a byte
CHUNK = 2**16
MAX_REDIRECTS = 5
REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """A file of a data set, as it was published.

    Args:
        name: the file's name, below the data set's folder.
        addresses: where it can be had, the best first.
        size: in bytes.
        sha256: of the content, in hex.
    """

    name: str
    addresses: tuple[str, ...]
    size: int
    sha256: str


def is_offline() -> bool:
    """Whether NETWRIGHT_OFFLINE forbids the network; "" and "0" do not."""
    return os.environ.get("NETWRIGHT_OFFLINE", "") not in {"", "0"}


def fetch(dataset: str, file: RemoteFile, *, timeout: float = TIMEOUT) -> Path:
    """The place of a whole file on this machine; it is downloaded where it is not there yet.

    Args:
        dataset: the data set's name.
        file: which file of it.
        timeout: seconds that an address may stay silent.
    """
    found = find_file(dataset, file.name)
    cached = cache_folder(dataset) / file.name
    damage = _damage(found, file) if found else ""
    if found and not damage:
        return found
    if found and found != cached:  # the user's own file: theirs to mend
        raise DataError(f"{found} is damaged: {damage}")
    if is_offline():
        state = f"damaged ({damage})" if found else "not on this machine"
        raise DownloadError(
            f"{dataset} is {state} and NETWRIGHT_OFFLINE is set; put {file.name} into "
            f"{cache_folder(dataset)} or into {dataset}/ in a folder of NETWRIGHT_DATA"
        )
    _download(dataset, file, cached, timeout)
    return cached


def _damage(place: Path, file: RemoteFile) -> str:
    """What is wrong with a file that lies here; empty where nothing is."""
    try:
        size = place.stat().st_size
        if size != file.size:
            return f"wanted {file.size} bytes, got {size}"
        digest = sha256_of(place)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return "" if digest == file.sha256 else f"wanted sha256 {file.sha256}, got {digest}"


def _download(dataset: str, file: RemoteFile, place: Path, timeout: float) -> None:
    """Try the addresses in turn; the first whole file gets the final name."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(new_name(f".{place.name}.", ""))
        with open_folder(place.parent) as folder:
            os.close(folder.new_file(temporary.name))
    except OSError as error:
        raise DownloadError(f"{place.parent} cannot be written to: {error.strerror}") from None
    failures = []
    bar = Bar(file.size, text=file.name)
    try:
        for address in file.addresses:
            bar.move(0, file.name)
            try:
                _transfer(address, file, temporary, timeout, bar)
            except (OSError, HTTPException, ValueError) as error:
                failures.append(f"{address}: {_reason(error)}")
            else:
                temporary.replace(place)
                return
    finally:
        bar.close()
        temporary.unlink(missing_ok=True)
    raise DownloadError(f"{dataset}/{file.name} could not be fetched: {'; '.join(failures)}")


def _transfer(address: str, file: RemoteFile, place: Path, timeout: float, bar: Bar) -> None:
    """Write the content of an address here; what is not the published file is refused."""
    received, digest = 0, hashlib.sha256()
    with place.open("wb") as target, _open(address, timeout) as response:
        while chunk := response.read(CHUNK):
            received += len(chunk)
            if received > file.size:  # stop here: an endless answer would fill the disk
                raise DownloadError(f"wanted {file.size} bytes, got more")
            digest.update(chunk)
            target.write(chunk)
            bar.move(received, file.name)
    if received < file.size:
        raise DownloadError(f"wanted {file.size} bytes, got {received}")
    if digest.hexdigest() != file.sha256:
        raise DownloadError(f"wanted sha256 {file.sha256}, got {digest.hexdigest()}")


def _open(address: str, timeout: float) -> HTTPResponse:
    """The answer at an address, after a few redirects at most."""
    opener = OpenerDirector()  # not urlopen's, which also knows file:// and ftp://
    for handler in (ProxyHandler, HTTPHandler, HTTPSHandler, UnknownHandler):
        opener.add_handler(handler())
    for _ in range(MAX_REDIRECTS + 1):
        request = Request(address, headers={"User-Agent": "netwright"})
        response: HTTPResponse = opener.open(request, timeout=timeout)
        if response.status == 200:
            return response
        response.close()
        target = response.headers["Location"]
        if response.status not in REDIRECTS or target is None:
            raise DownloadError(f"wanted HTTP status 200, got {response.status}")
        address = _redirected(address, urljoin(address, target))
    raise DownloadError(f"wanted at most {MAX_REDIRECTS} redirects, got more")


def _redirected(address: str, target: str) -> str:
    """The new address; a step down from https, or out of the web, is refused."""
    old, new = urlsplit(address).scheme, urlsplit(target).scheme
    if new != "https" and not old == new == "http":
        raise DownloadError(f"wanted a redirect to https, got {target!r}")
    return target


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    return str(cause) or type(cause).__name__
