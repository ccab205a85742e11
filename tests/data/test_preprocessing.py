"""The preprocessor is abstract: all its promises are to be kept."""

from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.data.preprocessing import Preprocessor, readable
from tests.repetition import for_each


class Doubler(Preprocessor):
    kind = "doubler"

    def encode(self, source: Any) -> Tensor:
        return 2 * torch.tensor(source)

    def encode_targets(self, source: Any) -> Tensor:
        return torch.tensor(source)

    def units(self) -> tuple[Tensor, Tensor]:
        return torch.zeros(1), torch.full((1,), 0.5)

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        return [{"x": f"{value / 2:g}"} for value in inputs.tolist()]

    def to_json(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Doubler":
        return cls(**values)


def test_a_full_one_can_be_made() -> None:
    doubler = Doubler.from_json(Doubler().to_json())
    assert doubler.encode([1, 2]).tolist() == [2, 4]
    assert doubler.decode(doubler.encode([1, 2])) == [{"x": "1"}, {"x": "2"}]
    doubler.check_numbers()  # it has none


@for_each("missing", ["encode", "encode_targets", "units", "decode", "to_json", "from_json"])
def test_one_that_lacks_a_promise_cannot_be_made(missing: str) -> None:
    lacking = type("Lacking", (Doubler,), {missing: getattr(Preprocessor, missing)})
    with pytest.raises(TypeError, match=missing):
        lacking()


@for_each(
    ("value", "scale", "text"),
    [
        (0.0999744, 450.0, "0.1"),
        (33425.389, 13247.0, "33425.4"),
        (1.5, 0.25, "1.5"),
        (3.0000002e-9, 1e-9, "3e-09"),
        (0.0, 1.0, "0"),
    ],
)
def test_decoded_numbers_show_no_rounding_noise(value: float, scale: float, text: str) -> None:
    assert readable(value, scale) == text


def test_what_reads_no_file_has_no_settings_for_it() -> None:
    assert Doubler().read_labelled([1]) == [1]
    with pytest.raises(ConfigError, match=r"no text file: encoding cannot be set$"):
        Doubler().reading(encoding="latin-1")
