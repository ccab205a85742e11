"""Recipes as YAML files: plain values only, no aliases, no tags, no key twice."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from netwright.core.errors import ConfigError
from netwright.core.files.regular_file import open_regular
from netwright.core.files.storage import read_bytes

LINE_BREAKS = "\x85\u2028\u2029\ufeff"  # which YAML reads as line ends: written as escapes
LARGEST = 1_000_000  # bytes; a recipe has about a thousand
DEEPEST = 20  # collections inside each other; a recipe has three
MOST = 20_000  # values; a recipe has about fifty, and a second reads so many
LONGEST = 100  # characters of a number or a date
TEXT = "tag:yaml.org,2002:str"
_HALF = re.compile("[\ud800-\udfff]")  # of a character


class _PlainLoader(yaml.SafeLoader):
    """YAML without what makes files large or surprising: aliases, tags, depth, a key twice."""

    depth = count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        self.count += 1
        if isinstance(event, yaml.events.AliasEvent):
            raise _refusal("aliases are not allowed", event)
        if event.tag is not None:
            raise _refusal("tags are not allowed", event)
        if self.depth == DEEPEST:
            raise _refusal(f"it is nested more than {DEEPEST} levels deep", event)
        if self.count > MOST:
            raise _refusal(f"it holds more than {MOST} values", event)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_scalar(self, node: Any) -> Any:
        # 1:1:1... is one number to base 60, 0xff... one of any length: working them out takes long.
        if node.tag != TEXT and len(node.value) > LONGEST:
            wrong = f"a number of more than {LONGEST} characters: {node.value[:20]}..."
            raise _refusal(wrong, node)
        if _HALF.search(node.value):
            raise _refusal("a text contains half a character", node)
        return super().construct_scalar(node)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise _refusal(f"a key must be text, got {key!r}", key_node)
            if key in seen:
                raise _refusal(f"the key {key!r} appears twice", key_node)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _refusal(wrong: str, at: Any) -> yaml.MarkedYAMLError:
    """What is wrong, and where: at an event or a node."""
    return yaml.constructor.ConstructorError(None, None, wrong, at.start_mark)


def read_recipe_file(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file that the user named; others are refused with file:line:column."""
    with _readable(path), open_regular(path) as file:
        content = file.read(LARGEST + 1)
    return _mapping(content, path)


def read_own_recipe(folder: Path, name: str = "config.yaml") -> dict[str, Any]:
    """The mapping in a YAML file of a run or search folder, in which no link is followed."""
    with _readable(folder / name):
        content = read_bytes(folder / name, most=LARGEST + 1)
    return _mapping(content, folder / name)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from None


def _mapping(content: bytes, path: Path) -> dict[str, Any]:
    if len(content) > LARGEST:
        raise ConfigError(f"{path} is too large for a recipe: over {LARGEST} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text") from None
    return read_yaml(text, str(path))


def read_yaml(text: str, name: str) -> dict[str, Any]:
    """The mapping in a YAML text."""
    try:
        values = _PlainLoader(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigError(f"{name}{place} is not a recipe: {error.problem:.200}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{name} is not a recipe: {str(error).splitlines()[0]}") from None
    except ValueError as error:
        raise ConfigError(f"{name} is not a recipe: {error}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{name} is not a recipe: it must contain sections, got {values!r:.60}")
    return values


def to_yaml(values: dict[str, Any]) -> str:
    """A mapping as YAML, in its own order."""
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    if any(mark in text for mark in LINE_BREAKS):
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=False)
    return text


def typed_value(text: str) -> Any:
    """A number, true or false, a list of them, or text: for settings whose type nobody declares."""
    if "," in text:
        return [typed_value(part.strip()) for part in text.split(",") if part.strip()]
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
