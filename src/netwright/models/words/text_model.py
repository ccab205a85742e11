"""What classifiers of texts share: words become vectors, and one answer is given for a text.

Shapes: B batch, T steps, D features of a word or of a step of a series, H features of a text, K
outputs.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.model import Model

SPREAD = 0.25  # of the first vectors of words, as in Kim (2014)


class TextModel(Model):
    """The abstract kind: a subclass says what it makes of the vectors of a text.

    Args:
        config: the settings; `embedding` are the features of a word vector.
        spec: of the data; a series is used as it is.
    """

    inputs: ClassVar[frozenset[InputKind]] = frozenset({"tokens"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})

    def __init__(self, config: Any, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.embedding: nn.Embedding | None = None
        self.width = spec.input_shape[-1]
        if spec.inputs == "tokens":
            self.width = config.embedding
            self.embedding = nn.Embedding(spec.vocab_size, self.width, padding_idx=spec.padding)
            with torch.no_grad():
                self.embedding.weight.uniform_(-SPREAD, SPREAD)
                if spec.padding is not None:
                    self.embedding.weight[spec.padding] = 0

    @classmethod
    def build(cls, config: Any, spec: DataSpec) -> Self:
        """A model with as many inputs and outputs as the data has."""
        return cls(config, spec)

    def embed(self, inputs: Tensor) -> Tensor:
        """Words (B, T) -> vectors (B, T, D); a series stays as it is."""
        if self.embedding is None:
            return inputs
        vectors: Tensor = self.embedding(inputs)
        return vectors

    def word_table(self) -> Tensor | None:
        """The vectors of the words (V, D)."""
        return None if self.embedding is None else self.embedding.weight

    def lengths(self, inputs: Tensor) -> Tensor:
        """How many steps of each row count (B,), at least one."""
        if self.spec.padding is None:
            return torch.full((inputs.shape[0],), inputs.shape[1], device=inputs.device)
        return (inputs != self.spec.padding).sum(dim=1).clamp(min=1)

    @abstractmethod
    def features(self, inputs: Tensor) -> Tensor:
        """What a text is to the output layer: (B, T) or (B, T, D) -> (B, H)."""
