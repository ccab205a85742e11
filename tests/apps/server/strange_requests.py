"""Requests that nobody sends by accident: honest ones that are spoiled, and noise."""

import base64
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HOST = {"Host": "127.0.0.1:8000"}
RUNS = ("things", "sizes", "texts", "letters", "pets", "iris", "reverse", "absent", "..", "%00")
MEDIA = (
    "application/json",
    "text/csv",
    "text/plain",
    "text/tab-separated-values",
    "image/png",
    "image/jpeg",
    "application/octet-stream",
    "multipart/form-data; boundary=x",
    "",
    "application/json; charset=utf-16",
)
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAAAAACMmsGiAAAADklEQVR4nGNgAIIDDAwMAAPEAMGT0ZP7AAAAAElF"
    "TkSuQmCC"
)
SCALARS: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "red",
    "\x00",
    "\x1b[2J",
    "é" * 50,
    "\U0001d518",
    "'; DROP TABLE",
    "=1+1",
    "1,5",
    "../../etc/passwd",
    "\u202e",
    "9" * 400,
)


@dataclass(frozen=True)
class Strange:
    """One request."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def strange_request(seed: int) -> Strange:
    """The request with this number; always the same."""
    luck = random.Random(seed)
    run = luck.choice(RUNS if luck.random() < 0.3 else RUNS[:7])
    is_usual = luck.random() < 0.8
    operation = "generate" if (run == "letters") == is_usual else "predict"
    target = f"/runs/{run}/{operation}"
    if luck.random() < 0.1:
        target = luck.choice(("/", "/runs", "/metrics", "/openapi.json", "//", "/runs/", "/%2e%2e"))
    if luck.random() < 0.2:
        name = luck.choice(("threshold", "probabilities", "remarks", "x", "threshold=1&threshold"))
        target += f"?{name}={luck.choice(('0.5', 'nan', '', 'true', '1e999', '%ff', '-0'))}"
    method = luck.choice(("POST",) * 60 + ("GET", "PUT", "DELETE", "OPTIONS", "HEAD", "x" * 50))
    media, make = luck.choice(MAKES)
    headers = {**HOST, "Content-Type": media if luck.random() < 0.8 else luck.choice(MEDIA)}
    if luck.random() < 0.1:
        headers[luck.choice(("Accept", "Content-Length", "Content-Encoding", "Origin"))] = (
            luck.choice(("text/csv", "text/event-stream", "-1", "9" * 30, "gzip", "null"))
        )
    return Strange(method, target, headers, _spoiled(luck, make(luck, run)))


def _json(luck: random.Random, run: str) -> bytes:
    honest: dict[str, Any] = {
        "things": {"rows": [{"size": 1.5, "colour": "red"}]},
        "sizes": {"rows": [{"colour": "red", "kind": "big"}]},
        "texts": {"texts": ["a fine film"]},
        "letters": {"prompt": "the", "max_tokens": 3, "seed": 1},
        "iris": {"inputs": [[5.0, 3.0, 1.0, 0.2]]},
        "reverse": {"texts": ["ab"]},
    }
    value = {"images": [_text(PNG)]} if run == "pets" else honest.get(run, {"rows": [{"a": 1}]})
    for _ in range(luck.randrange(3)):
        value = _changed(luck, value)
    return json.dumps(value).encode()


def _changed(luck: random.Random, value: Any) -> Any:
    """The value with one thing in it that should not be there."""
    if luck.random() < 0.3 or not isinstance(value, dict | list) or not value:
        return luck.choice((luck.choice(SCALARS), [], {}, [value], {"rows": value}, [value] * 40))
    if isinstance(value, list):
        place = luck.randrange(len(value))
        return [*value[:place], _changed(luck, value[place]), *value[place + 1 :]]
    key = luck.choice(list(value))
    if luck.random() < 0.2:
        return {**value, str(luck.choice(SCALARS)): luck.choice(SCALARS)}
    return {**value, key: _changed(luck, value[key])}


def _table(luck: random.Random, run: str) -> bytes:
    names = luck.sample(["size", "colour", "kind", "text", "source", "id", ""], 3)
    rows = [[str(luck.choice(SCALARS)) for _ in names] for _ in range(luck.randrange(5))]
    return "\n".join(luck.choice(",;\t|").join(row) for row in [names, *rows]).encode()


def _noise(luck: random.Random, run: str) -> bytes:
    return luck.randbytes(luck.choice((0, 1, 10, 300, 5000)))


def _image(luck: random.Random, run: str) -> bytes:
    return PNG


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _spoiled(luck: random.Random, body: bytes) -> bytes:
    """The body, in half of all cases with some bytes changed, left out or put in."""
    for _ in range(luck.choice((0, 0, 1, 4))):
        place = luck.randrange(len(body) + 1)
        end = place + luck.choice((0, 0, 1, 20))
        body = body[:place] + luck.randbytes(luck.choice((0, 1, 3))) + body[end:]
    return body


MAKES: tuple[tuple[str, Callable[[random.Random, str], bytes]], ...] = (
    *(("application/json", _json),) * 4,
    ("text/csv", _table),
    ("text/plain", _noise),
    ("image/png", _image),
)
