"""Configs: what is brought to its type, every refusal by its sentence, and the way through JSON."""

import json
import math
import re
from dataclasses import FrozenInstanceError, dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Lt
from hypothesis import given, settings
from hypothesis import strategies as st

from netwright.core.catalog import Catalog
from netwright.core.config import (
    Config,
    Count,
    Doc,
    Field,
    Fraction,
    NotNegative,
    OneOf,
    Positive,
    Size,
    as_held,
    changed_fields,
    describe,
    field_names,
    marked_fields,
    parse,
    to_mapping,
)
from netwright.core.errors import ConfigError, UnknownNameError
from tests.repetition import for_each

COLOURS: Catalog[str] = Catalog("colour", {"red": "a:b", "green": "a:b"})
Percent = Annotated[float, Lt(100)]


class Ends(Enum):
    LEFT, RIGHT = "left", "right"


@dataclass(frozen=True, kw_only=True)
class Inner(Config):
    """A part of a larger config, with one setting that must be given."""

    depth: Annotated[Size, Doc("how deep")]
    ratio: Fraction = 0.5


@dataclass(frozen=True, kw_only=True)
class Outer(Config):
    """One field of every kind."""

    size: Annotated[Size, Doc("how large")] = 3
    count: Count = 0
    rate: Positive = 0.1
    decay: NotNegative = 0.0
    share: Fraction = 0.0
    percent: Percent = 0.0
    name: str = "x"
    flag: bool = False
    mode: Literal["slow", "fast"] = "slow"
    widths: Annotated[tuple[Size, ...], Doc("widths of the layers")] = (4, 2)
    words: tuple[str, ...] = ()
    switches: tuple[bool, ...] = ()
    limit: Size | None = None
    title: str | None = None
    edges: tuple[float, ...] | None = None
    colour: Annotated[str | None, OneOf(COLOURS)] = None
    options: dict[str, Any] = field(default_factory=dict)
    inner: Inner = field(default_factory=lambda: Inner(depth=1))


@dataclass(frozen=True, kw_only=True)
class Outermost(Config):
    """Two levels of nesting."""

    outer: Outer = field(default_factory=Outer)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"size": 0}, "size must be greater than 0, got 0"),
        ({"size": -3}, "size must be greater than 0, got -3"),
        ({"size": 2**63}, f"size must be less than {2**63}, got {2**63}"),
        ({"count": -1}, "count must be at least 0, got -1"),
        ({"rate": 0.0}, "rate must be greater than 0.0, got 0.0"),
        ({"decay": -0.5}, "decay must be at least 0.0, got -0.5"),
        ({"share": 1.0}, "share must be less than 1.0, got 1.0"),
        ({"share": -0.1}, "share must be at least 0.0, got -0.1"),
        ({"percent": 100}, "percent must be less than 100.0, got 100"),
        ({"rate": math.nan}, "rate must be a finite number, got nan"),
        ({"rate": math.inf}, "rate must be a finite number, got inf"),
        ({"decay": "inf"}, "decay must be a finite number, got 'inf'"),
        ({"edges": [0.0, math.nan]}, "edges[1] must be a finite number, got nan"),
        ({"size": 2.5}, "size must be a whole number, got 2.5"),
        ({"size": "many"}, "size must be a whole number, got 'many'"),
        ({"size": None}, "size must be a whole number, got None"),
        ({"limit": "many"}, "limit must be a whole number, got 'many'"),
        ({"rate": "fast"}, "rate must be a number, got 'fast'"),
        ({"rate": [1.0]}, "rate must be a number, got [1.0]"),
        ({"name": 3}, "name must be text, got 3"),
        ({"title": 3}, "title must be text, got 3"),
        ({"flag": "maybe"}, "flag must be true or false, got 'maybe'"),
        ({"flag": None}, "flag must be true or false, got None"),
        ({"mode": "medium"}, "mode must be 'slow' or 'fast', got 'medium'"),
        ({"widths": [4, 0]}, "widths[1] must be greater than 0, got 0"),
        ({"widths": "4,x"}, "widths[1] must be a whole number, got 'x'"),
        ({"widths": 2.5}, "widths[0] must be a whole number, got 2.5"),
        ({"widths": {"a": 1}}, "widths must be a list, got {'a': 1}"),
        ({"options": 3}, "options must be a mapping, got 3"),
        # `true` is not 1: pydantic alone would let it pass.
        ({"size": True}, "size must be int, got True"),
        ({"rate": False}, "rate must be float, got False"),
        ({"limit": True}, "limit must be int or nothing, got True"),
        ({"name": True}, "name must be text, got True"),
        ({"mode": True}, "mode must be slow | fast, got True"),
        ({"widths": True}, "widths must be list of int, got True"),
        ({"widths": [4, True]}, "widths[1] must be int, got True"),
        ({"edges": (True,)}, "edges[0] must be float, got True"),
        ({"colour": "rde"}, "unknown colour 'rde'; did you mean 'red'?"),
        ({"colour": "zzz"}, "unknown colour 'zzz'; there are red, green"),
        ({"inner": 3}, "inner must be a mapping of settings, got 3"),
        ({"inner": True}, "inner must be a mapping of settings, got True"),
        ({"inner": {"depth": 0}}, "inner.depth must be greater than 0, got 0"),
        ({"inner": {"depht": 1}}, "unknown setting 'inner.depht'; did you mean 'depth'?"),
        ({"inner": {"ratio": 0.1}}, "setting 'depth' is missing in inner"),
    ],
)
def test_refuses_in_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        Outer(**settings)
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        parse(Outer, settings)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"sise": 3}, "unknown setting 'sise'; did you mean 'size'?"),
        ({1: 3}, "unknown setting '1'; there are depth, ratio"),
        ({}, "setting 'depth' is missing"),
    ],
)
def test_keys_are_refused(settings: dict[Any, Any], sentence: str) -> None:
    kind = Outer if "sise" in settings else Inner
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        parse(kind, settings)


@for_each(
    ("settings", "sentence"),
    [
        ({"sise": 3}, "unknown setting 'model.sise'; did you mean 'size'?"),
        ({"size": 0}, "model.size must be greater than 0, got 0"),
        ({"widths": [0]}, "model.widths[0] must be greater than 0, got 0"),
        ({"inner": {"depth": 0}}, "model.inner.depth must be greater than 0, got 0"),
        ({"inner": {"depht": 1}}, "unknown setting 'model.inner.depht'; did you mean 'depth'?"),
        ({"inner": {}}, "setting 'depth' is missing in model.inner"),
        ({"colour": "rde"}, "unknown colour 'rde'; did you mean 'red'?"),
    ],
)
def test_refusal_names_the_whole_path(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        parse(Outer, settings, "model")


def test_path_grows_with_every_level() -> None:
    with pytest.raises(ConfigError, match=r"^run\.outer\.inner\.depth must be greater than 0"):
        parse(Outermost, {"outer": {"inner": {"depth": 0}}}, "run")
    with pytest.raises(ConfigError, match=r"^unknown setting 'run\.outer\.inner\.deep'"):
        parse(Outermost, {"outer": {"inner": {"deep": 0}}}, "run")


def test_an_unknown_name_is_still_a_lookup_error() -> None:
    with pytest.raises(UnknownNameError):
        parse(Outer, {"colour": "rde"}, "model")


@for_each(
    ("given_value", "widths"),
    [
        ([8, 4], (8, 4)),
        ((8, 4), (8, 4)),
        ("8,4", (8, 4)),
        (" 8 , 4 , ", (8, 4)),
        ("8", (8,)),
        (8, (8,)),
        (8.0, (8,)),
        ("", ()),
        ([], ()),
    ],
)
def test_list_is_read_from_whatever_a_person_writes(
    given_value: Any, widths: tuple[int, ...]
) -> None:
    config = parse(Outer, {"widths": given_value})
    assert config.widths == widths
    assert all(type(width) is int for width in config.widths)


def test_values_are_brought_to_their_types() -> None:
    # YAML reads 1e-3 as text, and a command line gives text for everything.
    config = parse(Outer, {"rate": "1e-3", "size": "7", "flag": "true", "limit": 5, "edges": 1})
    assert (config.rate, config.size, config.flag) == (1e-3, 7, True)
    assert (config.limit, config.edges) == (5, (1.0,))
    assert type(config.size) is int
    assert parse(Outer, {"switches": [True, False]}).switches == (True, False)
    assert parse(Outer, {"words": "a, b"}).words == ("a", "b")
    assert parse(Outer, {"options": {"deep": True}}).options == {"deep": True}


def test_a_part_may_be_a_config_or_a_mapping() -> None:
    inner = Inner(depth=4)
    assert Outer(inner=inner).inner is inner
    assert parse(Outer, {"inner": {"depth": 4}}).inner == inner
    by_hand: dict[str, Any] = {"inner": {"depth": 4}}
    assert Outer(**by_hand).inner == inner


def test_a_config_stays_as_it_was_checked() -> None:
    with pytest.raises(FrozenInstanceError):
        Inner(depth=1).depth = 0  # type: ignore[misc]


def test_settings_given_to_parse_are_not_changed() -> None:
    settings = {"widths": [8, 4], "inner": {"depth": 2}}
    parse(Outer, settings)
    assert settings == {"widths": [8, 4], "inner": {"depth": 2}}


def test_mapping_is_plain() -> None:
    mapping = to_mapping(Outer(options={"betas": (0.9, 0.99)}))
    assert mapping["widths"] == [4, 2]
    assert mapping["inner"] == {"depth": 1, "ratio": 0.5}
    assert mapping["options"] == {"betas": [0.9, 0.99]}
    assert mapping["limit"] is None


finite = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
OUTERS = st.builds(
    Outer,
    size=st.integers(1, 10**9),
    count=st.integers(0, 10**9),
    rate=finite.filter(lambda value: value > 0),
    share=st.floats(0, 1, exclude_max=True),
    name=TEXT,
    flag=st.booleans(),
    mode=st.sampled_from(["slow", "fast"]),
    widths=st.lists(st.integers(1, 512)).map(tuple),
    words=st.lists(TEXT).map(tuple),
    limit=st.none() | st.integers(1, 99),
    edges=st.none() | st.lists(finite).map(tuple),
    colour=st.sampled_from([None, "red", "green"]),
    options=st.dictionaries(st.text(), st.integers() | st.text() | st.booleans() | st.none()),
    inner=st.builds(Inner, depth=st.integers(1, 9)),
)


@settings(derandomize=True, deadline=None)
@given(OUTERS)
def test_json_gives_the_same_config_back(config: Outer) -> None:
    plain = json.loads(json.dumps(to_mapping(config), allow_nan=False))
    assert parse(Outer, plain) == config


@settings(derandomize=True, deadline=None)
@given(st.integers() | finite | st.text(max_size=4) | st.none() | st.booleans())
def test_a_number_is_taken_exactly_where_it_is_allowed(value: Any) -> None:
    """Whatever is given: either a whole number above 0 comes out, or a sentence does."""
    try:
        size = Outer(size=value).size
    except ConfigError as error:
        assert str(error).startswith("size must be ")
    else:
        assert type(size) is int
        assert size > 0
        assert not isinstance(value, bool)
        assert Decimal(value) == size  # exact, also for text and numbers above 2^53


def test_description_gives_kind_default_and_sentence() -> None:
    rows = {row.name: row for row in describe(Outer)}
    assert list(rows)[:2] == ["size", "count"]
    assert rows["size"] == Field(name="size", kind="int", default=3, doc="how large")
    assert rows["count"] == Field(name="count", kind="int", default=0, doc="")
    assert rows["widths"].kind == "list of int"
    assert rows["widths"].default == [4, 2]
    assert rows["flag"].kind == "true/false"
    assert rows["name"].kind == "text"
    assert rows["mode"].kind == "slow | fast"
    assert rows["limit"].kind == "int or nothing"
    assert rows["edges"].kind == "list of float or nothing"
    assert rows["options"].kind == "mapping"
    assert rows["inner"].kind == "Inner"
    assert rows["inner"].default == {"depth": 1, "ratio": 0.5}


def test_description_says_what_must_be_given() -> None:
    depth, ratio = describe(Inner)
    assert depth == Field(name="depth", kind="int", default="(needed)", doc="how deep")
    assert ratio.default == 0.5


def test_no_text_holds_a_nul_character() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Named(Config):
        path: str = ""
        columns: tuple[str, ...] = ()

    with pytest.raises(
        ConfigError,
        match=r"^path must not contain a NUL character, got "
        r"'a\\x00b'$",
    ):
        Named(path="a\0b")
    with pytest.raises(ConfigError, match=r"^columns must not contain a NUL character"):
        Named(columns=("a", "\0"))


def test_fields_by_name_those_that_were_changed_and_what_one_would_hold() -> None:
    assert field_names(Inner) == ["depth", "ratio"]
    assert changed_fields(Outer()) == {}
    assert changed_fields(Outer(widths=(4,), flag=False, name="y")) == {"name": "y", "widths": (4,)}
    assert as_held(Outer, "widths", "8,4") == [8, 4]
    with pytest.raises(ConfigError, match=r"^size must be greater than 0, got 0$"):
        as_held(Outer, "size", 0)


def test_fields_are_found_by_the_marks_in_their_annotations() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Marked(Config):
        first: Annotated[int | None, Doc("one"), Ends.LEFT] = None
        second: Annotated[Size, Ends.RIGHT, Ends.LEFT] = 1
        third: int = 0

    assert marked_fields(Marked, Ends.LEFT) == ("first", "second")
    assert marked_fields(Marked, Ends.RIGHT) == ("second",)


def test_defaults_are_checked_and_brought_to_their_types() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Loose(Config):
        rate: float = 1
        sizes: tuple[int, ...] = 3  # type: ignore[assignment]

    @dataclass(frozen=True, kw_only=True)
    class Wrong(Config):
        count: Size = 0

    for _ in range(2):
        loose = Loose()
        assert (loose.rate, loose.sizes) == (1.0, (3,))
        assert type(loose.rate) is float
        with pytest.raises(ConfigError, match="count must be greater than 0, got 0"):
            Wrong()
        assert Wrong(count=1).count == 1
        with pytest.raises(ConfigError, match="count must be int, got True"):
            Wrong(count=True)


def test_a_value_is_checked_by_its_type_however_often_it_was_seen() -> None:
    for _ in range(2):
        assert Outer(size=1, rate=2.0).rate == 2.0
        assert type(Outer(rate=2).rate) is float  # equal to one that was left as it is
        with pytest.raises(ConfigError, match="size must be int, got True"):
            Outer(size=True)  # as is this
        with pytest.raises(ConfigError, match="rate must be greater than 0"):
            Outer(rate=-1.0)
