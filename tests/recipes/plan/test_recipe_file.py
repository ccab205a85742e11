"""Recipe files: plain YAML comes through, everything clever is refused with its place."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netwright.core.errors import ConfigError, DataError
from netwright.recipes.plan import recipe_file
from netwright.recipes.plan.recipe_file import (
    read_own_recipe,
    read_recipe_file,
    read_yaml,
    to_yaml,
    typed_value,
)
from tests.odd_files import ODD, outside_of, plant, refusal
from tests.repetition import for_each

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=25)
@given(st.dictionaries(st.text(max_size=6), PLAIN, max_size=4))
def test_what_is_written_is_read(values: dict[str, object]) -> None:
    assert read_yaml(to_yaml(values), "x") == values


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=6), PLAIN, max_size=4))
def test_whatever_is_written_is_read(values: dict[str, object]) -> None:
    assert read_yaml(to_yaml(values), "x") == values


@given(st.text(max_size=200))
def test_any_text_is_a_mapping_or_a_sentence(text: str) -> None:
    try:
        assert isinstance(read_yaml(text, "x.yaml"), dict)
    except ConfigError as error:
        assert "\n" not in str(error)


@for_each(
    ("text", "sentence"),
    [
        ("a: 1\na: 2\n", "x.yaml:2:1 is not a recipe: the key 'a' appears twice"),
        ("a: &x [1]\nb: *x\n", "x.yaml:2:4 is not a recipe: aliases are not allowed"),
        ("1: 2\n", "x.yaml:1:1 is not a recipe: a key must be text, got 1"),
        ("- 1\n", "x.yaml is not a recipe: it must contain sections, got [1]"),
        ("", "x.yaml is not a recipe: it must contain sections, got None"),
        ("a: 2026-13-01", "x.yaml is not a recipe: month must be in 1..12"),
        ("[" * 10_000, "x.yaml:1:21 is not a recipe: it is nested more than 20 levels deep"),
        (
            "a: !!python/object/apply:os.system ['true']\n",
            "x.yaml:1:4 is not a recipe: tags are not allowed",
        ),
    ],
)
def test_refuses_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        read_yaml(text, "x.yaml")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing.yaml cannot be read: No such file"):
        read_recipe_file(tmp_path / "missing.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"bytes.yaml is not UTF-8 text$"):
        read_recipe_file(tmp_path / "bytes.yaml")
    (tmp_path / "large.yaml").write_text("a: " + "x" * 1_000_001)
    with pytest.raises(ConfigError, match=r"large.yaml is too large for a recipe"):
        read_recipe_file(tmp_path / "large.yaml")


def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(DataError, match=r"^/dev/zero is a device, wanted a regular file$"):
        read_recipe_file(Path("/dev/zero"))


@for_each(
    ("text", "value"),
    [("3", 3), ("1e-7", 1e-7), ("true", True), ("0.9,0.99", [0.9, 0.99]), ("category", "category")],
)
def test_text_is_read_as_what_it_looks_like(text: str, value: object) -> None:
    assert typed_value(text) == value
    assert type(typed_value(text)) is type(value)


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        ("1" + ":1" * 400, "1:1:1:1:1:1:1:1:1:1:..."),  # to base 60: the time grows as its square
        ("0x" + "f" * 400, "0xffffffffffffffffff..."),
        ("9" * 400, "99999999999999999999..."),
    ],
)
def test_a_number_that_takes_long_to_work_out_is_refused(number: str, problem: str) -> None:
    sentence = f"x:1:7 is not a recipe: a number of more than 100 characters: {problem}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        read_yaml(f"seed: {number}", "x")


@for_each("tag", ["!!bool abc", "!!timestamp abc", "!!set {a}", "!!int [1]", "!x 1"])
def test_no_tag_is_read(tag: str) -> None:
    with pytest.raises(ConfigError, match=r"^x:1:7 is not a recipe: tags are not allowed$"):
        read_yaml(f"seed: {tag}", "x")


def test_a_recipe_has_no_more_values_than_are_read_in_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recipe_file, "MOST", 5)
    assert read_yaml("a: [1, 2]", "x") == {"a": [1, 2]}  # two collections, a key and two numbers
    with pytest.raises(ConfigError, match=r"^x:1:11 is not a recipe: it holds more than 5 values$"):
        read_yaml("a: [1, 2, 3]", "x")


def test_half_a_character_is_refused() -> None:
    with pytest.raises(
        ConfigError,
        match=r"^x:1:4 is not a recipe: a text contains half a "
        r"character",
    ):
        read_yaml('a: "\\ud800"', "x")


@pytest.mark.parametrize("kind", ODD)
def test_the_recipe_of_a_folder_is_no_link_and_one_that_the_user_names_may_be(
    tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    outside = outside_of(folder)
    plant(folder / "config.yaml", kind, outside)
    with pytest.raises(DataError, match=refusal(folder / "config.yaml", kind)):
        read_own_recipe(folder)
    (outside / "file").write_text("seed: 3")
    if kind == "link to a file":
        assert read_recipe_file(folder / "config.yaml") == {"seed": 3}
    else:
        with pytest.raises((ConfigError, DataError)):
            read_recipe_file(folder / "config.yaml")


def test_the_recipe_of_a_folder_is_read_and_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"config\.yaml cannot be read: No such file or directory$"
    ):
        read_own_recipe(tmp_path)
    (tmp_path / "config.yaml").write_text("seed: 3")
    assert read_own_recipe(tmp_path) == {"seed": 3}
    (tmp_path / "config.yaml").write_text("a: " + "x" * 1_000_001)
    with pytest.raises(ConfigError, match=r"config\.yaml is too large for a recipe"):
        read_own_recipe(tmp_path)
