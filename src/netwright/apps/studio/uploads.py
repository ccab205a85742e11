"""Files that a browser sends: streamed to disk in the folder, under a plain name, up to a size.

A file has its name when it is whole: half a table would be trained on as if it were all of it.
"""

import asyncio
import os
import re
import time
from contextlib import suppress
from http import HTTPStatus
from itertools import count
from pathlib import Path

from starlette.requests import Request

from netwright.apps.server.refusal import RefusalError
from netwright.apps.studio.data_choices import ENDINGS
from netwright.core.errors import ConfigError
from netwright.core.files.inside import Folder, new_name, open_folder
from netwright.core.files.storage import make_folder

UPLOADS = "uploads"
MOST_BYTES = 512_000_000
MOST_SECONDS = 600.0
PART = (".", ".part")  # how the name of a file that arrives begins and ends
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,99}")


async def take_upload(request: Request, top: Path) -> str:
    """Write the body of a request to a new file; its path below the folder."""
    name = request.query_params.get("name", "")
    if not NAME.fullmatch(name) or not name.lower().endswith(ENDINGS):
        raise ConfigError(
            f"a file is uploaded under a name of letters, digits, spaces and . _ - that "
            f"ends in {', '.join(ENDINGS)}, got {name!r:.100}"
        )
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and len(declared) < 20:
        _check_size(int(declared))
    make_folder(top / UPLOADS)
    with open_folder(top / UPLOADS, top) as folder:
        _remove_parts(folder)
        part = new_name(*PART)
        try:
            await _receive(request, folder.new_file(part))
            return f"{UPLOADS}/{_give_name(folder, part, name)}"
        except BaseException as error:
            with suppress(OSError):
                folder.unlink(part)
            if isinstance(error, TimeoutError):
                sentence = f"the file did not arrive within {MOST_SECONDS:g} seconds"
                raise RefusalError(HTTPStatus.REQUEST_TIMEOUT, sentence) from None
            if isinstance(error, OSError):
                sentence = f"the file cannot be written: {error.strerror}"
                raise RefusalError(HTTPStatus.INSUFFICIENT_STORAGE, sentence) from None
            raise


async def _receive(request: Request, handle: int) -> None:
    try:
        async with asyncio.timeout(MOST_SECONDS):
            await _write(request, handle)
            await asyncio.to_thread(os.fsync, handle)
    finally:
        os.close(handle)


async def _write(request: Request, handle: int) -> None:
    size = 0
    async for part in request.stream():
        size += len(part)
        _check_size(size)
        writing = asyncio.create_task(asyncio.to_thread(_write_all, handle, part))
        try:
            await asyncio.shield(writing)
        finally:  # the file is not closed under a thread that still writes to it
            await asyncio.wait([writing])


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise RefusalError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"a file may have at most {MOST_BYTES / 1e6:g} MB; copy a larger one to the folder",
            {"Connection": "close"},
        )


def _write_all(handle: int, part: bytes) -> None:
    left = memoryview(part)
    while left:
        left = left[os.write(handle, left) :]


def _give_name(folder: Folder, part: str, name: str) -> str:
    """The name of a file that is whole; where this one is taken, NAME-2, NAME-3 and so on."""
    stem, dot, ending = name.rpartition(".")
    for number in count(1):
        free = name if number == 1 else f"{stem}-{number}{dot}{ending}"
        with suppress(FileExistsError):
            os.close(folder.new_file(free))  # no other upload has it now
            folder.replace(part, free)
            return free
    raise ConfigError("no name is free")


def _remove_parts(folder: Folder) -> None:
    """Clear what a studio that was killed left of files; those of others may still arrive."""
    start, end = PART
    for name in folder.names():
        if name.startswith(start) and name.endswith(end):
            with suppress(OSError):
                if folder.status(name).st_mtime < time.time() - MOST_SECONDS:
                    folder.unlink(name)
