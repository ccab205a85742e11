"""JSON that comes from elsewhere: whatever is in it, there is a value or one sentence.

Beside what is no JSON at all, this refuses what no file of ours holds and what others stumble over:
values nested so deep that walking through them runs out of stack, and halves of characters (lone
surrogates), which no terminal and no file can take.
"""

import json
import re
from typing import Any

from netwright.core.errors import DataError

DEEPEST = 100  # values inside each other; the state of a run has about 20
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # may be one of the two halves of a whole character


def parse_json(content: str | bytes, where: object) -> Any:
    """The value in the content of a JSON file.

    Args:
        content: of the file, in UTF-8.
        where: what a refusal names.
    """
    try:
        return json_value(content)
    except ValueError as error:
        raise DataError(f"{where} is not a readable JSON file: {error}") from None


def json_value(content: str | bytes) -> Any:
    """The value of a JSON text; a ValueError says what is wrong with it."""
    text = content.decode("utf-8") if isinstance(content, bytes) else content
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_too_deep()) from None
    _check_depth(text, value)
    if _HALF.search(text):
        _check_whole_characters(value)
    return value


def _too_deep() -> str:
    return f"it is nested more than {DEEPEST} levels deep"


def _check_depth(text: str, value: Any) -> None:
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if isinstance(part, dict | list)
        ]
        if not level:
            return
    if level:
        raise ValueError(_too_deep())


def _check_whole_characters(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise ValueError(f"it contains half a character, \\u{half:04x} without the other") from None
