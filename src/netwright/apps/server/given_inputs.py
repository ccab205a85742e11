"""The body of a request as inputs of a run: rows, texts, images or arrays; never a path.

A text that is handed to a preprocessor as it is may be taken for the name of a file. Nothing of a
body is: rows are objects, texts stand in a list, and images are bytes.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import torch
from torch import Tensor

from netwright.apps.server.accepted_forms import CSV, IMAGE, JSON, LINES, accepted_forms
from netwright.apps.server.refusal import RefusalError
from netwright.apps.server.server_config import (
    BRACKETS,
    DECODING,
    MASK_PIXELS,
    REQUEST_PIXELS,
    ServerConfig,
)
from netwright.core.checks import nearest
from netwright.core.files.json_text import json_value
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.image_content import ImageContent
from netwright.data.images.quiet_pillow import QUIET
from netwright.data.tables.reading import read_table
from netwright.recipes.run.answers import check_asked
from netwright.recipes.run.given_rows import read_given
from netwright.recipes.run.run import Run

BODY = "the body"  # what refusals call it
TABLES = frozenset({CSV, "text/tab-separated-values"})
# Bytes of images that stay open together. Their notes may unpack to 300 MB, hardly more than the
# 270 MB that those of a single image may take while its head is read.
KEPT_OPEN = 2**16
CONTAINERS = frozenset({list, dict})  # of JSON: to ask so is quicker than by `isinstance`
DATA_ADDRESS = re.compile(r"data:image/[a-z.+-]{1,20};base64,")


@dataclass(frozen=True)
class Pictures:
    """Images that are decoded.

    Args:
        pixels: bytes (N, C, I, J).
        sizes: height and width of each, as it was.
    """

    pixels: Tensor
    sizes: list[tuple[int, int]]


@dataclass(frozen=True)
class Given:
    """What a body holds, checked as far as that needs no look at columns, words or pixels.

    Args:
        key: of the JSON object; "images" of an image, "read" of other bodies.
        value: N rows, texts, files of images or numbers; of "read" what the preprocessor made.
        count: N.
    """

    key: str
    value: Any
    count: int


def read_inputs(run: Run, media: str, body: bytes, config: ServerConfig) -> Any:
    """What the run's preprocessor makes of a body; what it does not take is refused."""
    return read_values(run, open_body(run, media, body, config))


def open_body(run: Run, media: str, body: bytes, config: ServerConfig) -> Given:
    """What a body holds; what the run does not take is refused.

    Args:
        run: that is asked.
        media: the media type of the body, in small letters, without parameters.
        body: all of it.
        config: how many rows there may be.
    """
    check_asked(run.spec)
    accepted = accepted_forms(run)
    if media == JSON:
        key, value = _json_input(body, accepted.keys)
        count = len(value) if isinstance(value, list) else 1
        _check_count(count, run, config)
        return Given(key, _CHECKS[key](value), count)
    kind = IMAGE if media.startswith("image/") else CSV if media in TABLES else media
    if kind not in accepted.media:
        raise RefusalError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"this run takes {accepted.sentence}, got {media[:100] or 'no Content-Type'!r}",
        )
    if kind == IMAGE:
        return Given("images", [body], 1)
    if kind == LINES:
        _check_count(body.count(b"\n"), run, config)
    rows = read_given(run.preprocessor, BODY, body)
    _check_count(len(rows), run, config)
    return Given("read", rows, len(rows))


def read_values(run: Run, given: Given) -> Any:
    """What the run's preprocessor makes of what a body holds; of images, `Pictures`."""
    if given.key == "images":
        return _decoded(run, given.value)
    if given.key == "rows" and run.preprocessor.kind == "arrays":
        return read_table(given.value)
    return run.preprocessor.read(given.value) if given.key in {"rows", "texts"} else given.value


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a body."""
    if body.count(b"[") + body.count(b"{") > BRACKETS:
        raise RefusalError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"{BODY} holds more than {BRACKETS:,} lists and objects",
        )
    try:
        value = json_value(body)
    except ValueError as error:
        raise RefusalError(HTTPStatus.BAD_REQUEST, f"{BODY} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RefusalError(
            HTTPStatus.BAD_REQUEST, f"{BODY} must be a JSON object, got {_kind_of(value)}"
        )
    return value


def _json_input(body: bytes, keys: tuple[str, ...]) -> tuple[str, Any]:
    """The one key of the object, and what it holds."""
    value = read_object(body)
    for key in value:
        if key not in keys:
            hint = nearest(key, keys) or f"; this run takes {_either(keys)}"
            raise RefusalError(HTTPStatus.BAD_REQUEST, f"unknown key {key[:100]!r}{hint}")
    if len(value) != 1:
        raise RefusalError(
            HTTPStatus.BAD_REQUEST, f"{BODY} must have {_either(keys)}, got {len(value)} keys"
        )
    (key,) = value
    if type(value[key]) not in CONTAINERS or not value[key]:
        got = "an empty one" if type(value[key]) in CONTAINERS else _kind_of(value[key])
        raise RefusalError(HTTPStatus.BAD_REQUEST, f"{key} must be a list, got {got}")
    return key, value[key]


def _either(keys: tuple[str, ...]) -> str:
    return " or ".join(f'"{key}"' for key in keys)


def _check_count(count: int, run: Run, config: ServerConfig) -> None:
    if count <= 1:  # as many may always come
        return
    most = config.rows_of(run.spec.num_features)
    if count > most:
        raise RefusalError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"this run takes at most {most:,} rows at a time, got {count:,}; send them in parts",
        )


def _rows(value: Any) -> Any:
    """Rows as objects; one row may stand alone."""
    rows = [value] if isinstance(value, dict) else value
    for place, row in enumerate(rows):
        if not isinstance(row, dict) or not row:
            raise RefusalError(
                HTTPStatus.BAD_REQUEST, f"rows[{place}] must be an object, got {_kind_of(row)}"
            )
        for name, cell in row.items():
            if type(cell) in CONTAINERS:
                raise RefusalError(
                    HTTPStatus.BAD_REQUEST,
                    f"rows[{place}][{name[:100]!r}] must be a text, a number, true, false or null, "
                    f"got {_kind_of(cell)}",
                )
    return rows


def _texts(value: Any) -> Any:
    _check_all_texts("texts", value)
    return value


def _images(value: Any) -> list[bytes]:
    """Images in base64, one text each."""
    _check_all_texts("images", value)
    contents = []
    for place, text in enumerate(value):
        try:
            contents.append(base64.b64decode(DATA_ADDRESS.sub("", text, count=1), validate=True))
        except (binascii.Error, ValueError):
            raise RefusalError(HTTPStatus.BAD_REQUEST, f"images[{place}] is not base64") from None
    return contents


def _inputs(value: Any) -> Any:
    """Numbers as they are."""
    return value


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "rows": _rows,
    "texts": _texts,
    "images": _images,
    "inputs": _inputs,
}


def _decoded(run: Run, contents: list[bytes]) -> Pictures:
    """The pixels of images in their files' bytes (N, C, I, J)."""
    encoder = run.preprocessor
    if not isinstance(encoder, ImageEncoder):
        raise RefusalError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "this run takes no images")
    images = [ImageContent(one, f"image {place}") for place, one in enumerate(contents)]
    keeps, form = sum(map(len, contents)) <= KEPT_OPEN, encoder.form
    with QUIET:  # once: to begin it takes longer than to be in it
        headers = [image.header(keeps=keeps) for image in images]
        _check_pixels(run, sum(one.height * one.width for one in headers))
        pixels = [image.decode(form, most=DECODING) for image in images]
    return Pictures(torch.stack(pixels), [(one.height, one.width) for one in headers])


def _check_pixels(run: Run, count: int) -> None:
    """Refuse images by their headers: a kilobyte of a file may hold millions of equal pixels."""
    if count > REQUEST_PIXELS:
        raise RefusalError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the images of a request may have {REQUEST_PIXELS / 1e6:.3g} million pixels together, "
            f"got {count / 1e6:,.3g} million; send fewer or smaller ones",
        )
    if run.spec.target == "mask" and count > MASK_PIXELS:
        raise RefusalError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"masks of at most {MASK_PIXELS / 1e6:.3g} million pixels are made at a time",
        )


def _check_all_texts(key: str, value: Any) -> None:
    if not isinstance(value, list):
        raise RefusalError(HTTPStatus.BAD_REQUEST, f"{key} must be a list, got {_kind_of(value)}")
    for place, text in enumerate(value):
        if not isinstance(text, str):
            raise RefusalError(
                HTTPStatus.BAD_REQUEST, f"{key}[{place}] must be a text, got {_kind_of(text)}"
            )


def _kind_of(value: Any) -> str:
    """What a JSON value is."""
    if value is None:
        return "null"
    kinds = {bool: "true or false", dict: "an object", list: "a list", str: "a text"}
    return kinds.get(type(value), "a number")
