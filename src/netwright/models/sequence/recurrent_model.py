"""What the models of stacked cells share: layers of one kind of cell, in one direction or both."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any

from netwright.core.config import Doc, Size
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import Cell
from netwright.models.sequence.sequence_model import ScoredByHead, SequenceConfig


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig(SequenceConfig):
    """Settings that all stacks of cells have."""

    layers: Annotated[Size, Doc("number of stacked layers")] = 1
    bidirectional: Annotated[bool, Doc("bidirectional; not for language models")] = False
    tied: Annotated[bool, Doc("tie input and output embeddings; needs embedding = hidden")] = False


class RecurrentModel(ScoredByHead):
    """The abstract kind: a subclass gives its config, its card and its cell."""

    backbone: RecurrentStack

    def __init__(self, config: RecurrentConfig, spec: DataSpec) -> None:
        if config.bidirectional and spec.target == "tokens":
            raise ConfigError(
                "bidirectional would see the tokens to be predicted: it needs a target of kind "
                "class, labels, real or tags, got 'tokens'"
            )
        super().__init__(config, spec, tied=config.tied, bidirectional=config.bidirectional)

    @abstractmethod
    def cell(self, config: Any) -> Cell:
        """What each layer computes a step."""

    def make_backbone(self, config: Any, input_size: int) -> RecurrentStack:
        """Layers of this cell."""
        return RecurrentStack(
            self.cell(config),
            input_size,
            config.hidden,
            config.layers,
            bidirectional=config.bidirectional,
            dropout=config.dropout,
        )
