"""What the models of linear recurrences share: a stack of residual blocks around them."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any

from netwright.core.config import Doc, Size
from netwright.layers.recurrence.linear_recurrence import LinearRecurrence
from netwright.layers.recurrence.residual_recurrence import RecurrenceStack, ResidualRecurrence
from netwright.layers.recurrence.scan import scan_by_steps
from netwright.models.model import Functions
from netwright.models.sequence.sequence_model import ScoredByHead, SequenceConfig

# The loop is what a scan computes, in a form that can be read.
SCAN: Functions = (LinearRecurrence.forward, scan_by_steps)


@dataclass(frozen=True, kw_only=True)
class LinearRecurrentConfig(SequenceConfig):
    """Settings that all models of linear recurrences have."""

    layers: Annotated[Size, Doc("number of stacked residual blocks")] = 2


class LinearRecurrentModel(ScoredByHead):
    """The abstract kind: a subclass gives its config, its card and its recurrence."""

    backbone: RecurrenceStack

    @abstractmethod
    def recurrence(self, config: Any) -> LinearRecurrence:
        """What mixes the steps in one block: `hidden` features to as many."""

    def make_backbone(self, config: LinearRecurrentConfig, input_size: int) -> RecurrenceStack:
        """Blocks around this recurrence."""
        blocks = [
            ResidualRecurrence(self.recurrence(config), dropout=config.dropout)
            for _ in range(config.layers)
        ]
        return RecurrenceStack(input_size, blocks)
