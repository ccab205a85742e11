"""How raw inputs become tensors, fitted once on the training rows and kept with the model."""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.trees import Tree


class Preprocessor(ABC):
    """Turns what a user has (arrays, frames, files) into what the model was trained on.

    It holds plain numbers and text only, so it travels as JSON and runs on another machine.
    """

    kind: ClassVar[str]

    @abstractmethod
    def encode(self, source: Any) -> Tree:
        """Raw inputs -> (N, ...), or several such tensors, encoded as the training inputs were."""

    @abstractmethod
    def encode_targets(self, source: Any) -> Tensor:
        """Raw targets -> class indices, labels or reals, as the training targets are."""

    def encode_weights(self, source: Any) -> Tensor | None:
        """How much each row counts (N,), where the source says so as the training rows did."""
        return None

    def read(self, source: Any) -> Any:
        """What a source holds, read once, so that it can be encoded several times."""
        return source

    def read_labelled(self, source: Any) -> Any:
        """The same for inputs with their targets; all that is not there is refused at once."""
        return source

    def reading(self, **settings: str) -> "Preprocessor":
        """The same for files that are written otherwise: `encoding`, `thousands`."""
        raise ConfigError(f"this run reads no text file: {' and '.join(settings)} cannot be set")

    def remarks(self, source: Any) -> tuple[str, ...]:
        """What is new in these inputs (categories never seen, cells missing), a sentence each."""
        return ()

    @abstractmethod
    def units(self) -> tuple[Tensor, Tensor]:
        """Offset and scale of every encoded number (F,): raw = encoded * scale + offset."""

    @abstractmethod
    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """Encoded rows (N, F) as a person reads them: column -> value."""

    def check_numbers(self) -> None:  # noqa: B027 - an encoder may have none
        """Refuse numbers that no training gives: what was read from a file may hold any.

        It is called once, when all fields are known to be of their kinds.
        """

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""

    @classmethod
    @abstractmethod
    def from_json(cls, values: dict[str, Any]) -> "Preprocessor":
        """The preprocessor that `to_json` gave."""


def readable(value: float, scale: float) -> str:
    """A decoded number without the noise of float32, which keeps six digits of its scale."""
    places = 5 - math.floor(math.log10(abs(scale)))
    return f"{round(value, places) + 0.0:.7g}"  # + 0.0: no minus before a zero
