"""The preprocessor is abstract: all four of its promises are to be kept."""

from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.data.preprocessing import Preprocessor


class Doubler(Preprocessor):
    kind = "doubler"

    def encode(self, source: Any) -> Tensor:
        return 2 * torch.tensor(source)

    def encode_targets(self, source: Any) -> Tensor:
        return torch.tensor(source)

    def to_json(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Doubler":
        return cls(**values)


def test_a_full_one_can_be_made() -> None:
    doubler = Doubler.from_json(Doubler().to_json())
    assert doubler.encode([1, 2]).tolist() == [2, 4]


@pytest.mark.parametrize("missing", ["encode", "encode_targets", "to_json", "from_json"])
def test_one_that_lacks_a_promise_cannot_be_made(missing: str) -> None:
    lacking = type("Lacking", (Doubler,), {missing: getattr(Preprocessor, missing)})
    with pytest.raises(TypeError, match=missing):
        lacking()
