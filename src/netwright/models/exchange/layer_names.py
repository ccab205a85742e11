"""Names of another library for the weights of a transformer, and ours: tables, read either way.

    theirs   encoder.layer.0.attention.self.query.weight, .key., .value.    three maps
    ours     h.0.attn.c_attn.weight                                         one, fused

A weight that has no place in the other names stays as it is, for who checks the names to refuse:
nothing is dropped in silence.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class BlockNames:
    """The names of one stack of blocks.

    Args:
        theirs: what stands before the number of a block there.
        ours: what stands before it here.
        parts: their part of a block -> ours.
        fused: our map -> theirs that it is made of, in order.
    """

    theirs: str
    ours: str
    parts: Mapping[str, str]
    fused: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class LayerNames:
    """The names of a whole network.

    Args:
        stacks: of its blocks.
        others: their weight outside of the blocks -> ours.
    """

    stacks: tuple[BlockNames, ...]
    others: Mapping[str, str]

    def to_ours(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Their weights by our names."""
        ours: dict[str, Tensor] = {}
        for name, value in weights.items():
            found = None if name in self.others else self._in_a_block(name, value, weights)
            ours |= {self.others.get(name, name): value} if found is None else found
        return ours

    def to_theirs(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Our weights by their names."""
        others = {our: their for their, our in self.others.items()}
        theirs: dict[str, Tensor] = {}
        for name, value in weights.items():
            stack = next((one for one in self.stacks if name.startswith(one.ours)), None)
            if name in others or stack is None:
                theirs[others.get(name, name)] = value
                continue
            layer, part, kind = _apart(name, stack.ours)
            if part in stack.fused:
                names = stack.fused[part]
                pieces = [piece.contiguous() for piece in value.chunk(len(names))]
            else:
                names = tuple(their for their, our in stack.parts.items() if our == part)[:1]
                pieces = [value]
            for their, piece in zip(names or (part,), pieces, strict=True):
                theirs[f"{stack.theirs}{layer}.{their}.{kind}"] = piece
        return theirs

    def _in_a_block(
        self, name: str, value: Tensor, weights: Mapping[str, Tensor]
    ) -> dict[str, Tensor] | None:
        """One weight of a block by our name; nothing of the later pieces of a fused map."""
        stack = next((one for one in self.stacks if name.startswith(one.theirs)), None)
        if stack is None:
            return None
        layer, part, kind = _apart(name, stack.theirs)
        if part in stack.parts:
            return {f"{stack.ours}{layer}.{stack.parts[part]}.{kind}": value}
        for our, pieces in stack.fused.items():
            if part == pieces[0]:
                names = [f"{stack.theirs}{layer}.{piece}.{kind}" for piece in pieces]
                given = [weights[one] for one in names if one in weights]
                is_one = all(piece.ndim for piece in given)
                if not is_one or len({piece.shape[1:] for piece in given}) > 1:
                    return None  # no pieces of one map: refused under their own names
                return {f"{stack.ours}{layer}.{our}.{kind}": torch.cat(given)}
            if part in pieces:
                return {}
        return None


def _apart(name: str, beginning: str) -> tuple[str, str, str]:
    """The number of the block, the part in it, and whether it is a weight or a bias."""
    layer, _, inside = name.removeprefix(beginning).partition(".")
    part, _, kind = inside.rpartition(".")
    return layer, part, kind
