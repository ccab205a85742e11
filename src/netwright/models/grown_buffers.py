"""Buffers whose size the data decides: stored examples, support vectors, the nodes of a tree.

A model is built before it has seen its data, so that such a buffer starts out small. Learning puts
a larger tensor in its place, and loading takes the size from the file.
"""

from typing import Any, ClassVar

from torch import nn


class GrownBuffers(nn.Module):
    """Mixed into a model, before `Model`; `grown` names its buffers of no fixed size."""

    grown: ClassVar[tuple[str, ...]]

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in self.grown:
            saved = state_dict.get(prefix + name)
            if saved is not None:
                setattr(self, name, getattr(self, name).new_empty(saved.shape))
        super()._load_from_state_dict(state_dict, prefix, *rest)
