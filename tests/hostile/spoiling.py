"""Strategies of hypothesis: what an honest file holds, spoilt here and there."""

import json
import struct
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tests.hostile.edits import CONTROL

NASTY = st.sampled_from(
    [
        *(b"", b"\x00", b"\xff", b"\n", b'"', b",", b"[" * 300, b"{", b"9" * 500, b"NaN", b"1e999"),
        *(
            b"-1",
            b"\\ud800",
            CONTROL.encode(),
            struct.pack("<Q", 1 << 63),
            struct.pack(">I", 1 << 31),
        ),
    ]
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
) | st.sampled_from([10**400, -1, 1 << 62, CONTROL, "../../x", "/dev/zero", "\x00"])
VALUES: SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@st.composite
def spoilt(draw: DrawFn, content: bytes) -> bytes:
    """The content with a few parts taken out, put in, doubled or cut off."""
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 16)))
        put = draw(NASTY | st.binary(max_size=8))
        content = draw(
            st.sampled_from(
                [
                    content[:start] + put + content[end:],
                    content[:start],
                    content[:start] + content[start:end] * 3 + content[end:],
                ]
            )
        )
    return content


def _paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a tree of JSON a value can be replaced."""
    if not isinstance(value, dict | list):
        return []
    found: list[tuple[Any, ...]] = []
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        found += [(*here, key), *_paths(part, (*here, key))]
    return found


@st.composite
def mistyped(draw: DrawFn, value: Any) -> bytes:
    """The JSON of a value in which one or two parts are others."""
    value = deepcopy(value)
    for _ in range(draw(st.integers(1, 2))):
        paths = _paths(value)
        if not paths:
            break
        *above, last = draw(st.sampled_from(paths))
        inner = value
        for key in above:
            inner = inner[key]
        inner[last] = draw(VALUES)
    return json.dumps(value).encode()


def either(content: bytes) -> SearchStrategy[bytes]:
    """An honest file that is spoilt, or any bytes."""
    return spoilt(content) | st.binary(max_size=64)


def jsons(value: Any) -> SearchStrategy[bytes]:
    """JSON with wrong parts, or what is no JSON."""
    return mistyped(value) | spoilt(json.dumps(value).encode())
