"""A map has a number for each part of what is shown, and is drawn for every kind of input."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.attribution.input_map import InputMap, Kind, ShownInput, map_values
from tests.repetition import for_each


@dataclass(frozen=True, kw_only=True)
class Plain(InputMap):
    """Nothing but the map."""

    title: ClassVar[str] = "Map"

    @property
    def unit(self) -> str:
        """Of no kind."""
        return "number"

    @property
    def caption(self) -> str:
        """Where it is strongest."""
        return self.strongest


def view(kind: Kind, values: Tensor, names: tuple[str, ...] = ()) -> Plain:
    pixels = ((0, 255), (9, 9)) if kind == "image" else None
    shown = ShownInput(kind=kind, answer="it", names=names, pixels=pixels)
    return Plain(shown=shown, values=map_values(shown, values))


VIEWS = {
    "features": (view("features", torch.tensor([1.0, -3.0]), ("a", "b")), '"b" (-3)'),
    "tokens": (
        view("tokens", torch.tensor([2.0, 0.0]), ("x" * 70, "end")),
        f'"{"x" * 39}…" at place 0 (2)',
    ),
    "image": (view("image", torch.tensor([[0.0, 1], [0, 4]])), "row 1, column 1 (4)"),
    "series": (
        view("series", torch.tensor([[5.0, 1], [0, 0]]), ("p", "q")),
        '"p", 1 step before the last (5)',
    ),
    "the last step": (view("series", torch.tensor([[0.0], [1]]), ("p",)), '"p", the last step (1)'),
    "nothing": (view("features", torch.zeros(2), ("a", "b")), '"a" (0)'),
}


@for_each("kind", list(VIEWS))
def test_every_kind_is_drawn_and_names_its_strongest_part(kind: str) -> None:
    shown, strongest = VIEWS[kind]
    assert shown.caption == strongest
    assert shown.plot().axes


def test_long_texts_go_on_in_the_next_line() -> None:
    words = tuple(["twelve_chars"] * 12)
    assert {line for line, _, _ in view("tokens", torch.ones(12), words)._cells} == {0, 1, 2}


def test_a_large_image_is_averaged_to_what_can_be_seen() -> None:
    shown = ShownInput(kind="image", answer="it")
    values = map_values(shown, torch.arange(128.0)[:, None].expand(128, 64))
    assert (len(values), len(values[0])) == (64, 32)
    assert values[0][0] == 0.5


def test_maps_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^a map of image must have 2 axes, got 1$"):
        view("image", torch.ones(3))
    with pytest.raises(DataError, match=r"^names must hold 2 names, got 1$"):
        view("features", torch.ones(2), ("a",))
