"""Names and bounds of settings, as a form shows them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from netwright.core.catalog import Catalog
from netwright.core.config import Config, Doc, Fraction, OneOf, Positive, Size
from netwright.recipes.plan.setting_choices import Choices, setting_choices

TABLE: Catalog[int] = Catalog("thing", {"a": "x:y", "b": "x:z"})


@dataclass(frozen=True, kw_only=True)
class Some(Config):
    rate: Annotated[Positive | None, Doc("rate")] = None
    part: Annotated[Fraction, Doc("part")] = 0.1
    sizes: Annotated[tuple[Size, ...], Doc("sizes")] = (1,)
    thing: Annotated[str | None, OneOf(TABLE), Doc("thing")] = None
    way: Annotated[Literal["x", "y"], Doc("way")] = "x"
    is_on: Annotated[bool, Doc("on")] = False
    words: Annotated[str, Doc("words")] = ""
    either: Annotated[Literal["auto"] | int, Doc("either")] = "auto"


def test_what_each_setting_takes() -> None:
    assert setting_choices(Some) == {
        "rate": Choices(bounds="greater than 0"),
        "part": Choices(bounds="at least 0, less than 1"),
        "sizes": Choices(bounds="greater than 0"),
        "thing": Choices(options=("a", "b")),
        "way": Choices(options=("x", "y")),
        "is_on": Choices(options=("true", "false")),
        "words": Choices(),
        "either": Choices(),
    }
