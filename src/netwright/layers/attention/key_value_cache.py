"""The key/value cache: keys and values of the tokens so far, so that a new one costs only its own.

The room for all of them is taken once, and new ones are written in place. So a cache is used up by
`append`: it shares its room with the one that comes back, and a second append to the old one would
write over what the first put there. To go on in two ways, copy the tensors first (as beam search
does when it picks rows). The batch comes first, and `length` is a plain number: nothing waits for
a GPU.

Shapes: B batch, H heads of keys and values, L most tokens, T new tokens, K features of a head.
Source: Pope et al., "Efficiently Scaling Transformer Inference" (2022), section 2.1.
"""

from typing import NamedTuple, Self

from torch import Tensor

from netwright.core.errors import ConfigError


class KeyValueCache(NamedTuple):
    """What one layer keeps; only the first `length` places are filled.

    Args:
        keys: (B, H, L, K).
        values: (B, H, L, K).
        length: tokens so far, the same for all rows.
        first: the place of each row's first token, behind its padding (B,); None: there is none.
    """

    keys: Tensor
    values: Tensor
    length: int
    first: Tensor | None = None

    @classmethod
    def empty(cls, shape: tuple[int, int, int, int], like: Tensor) -> Self:
        """Room of the shape (B, H, L, K), of the device and type of `like`."""
        return cls(like.new_empty(shape), like.new_empty(shape), 0)

    def append(self, keys: Tensor, values: Tensor) -> Self:
        """Write new keys and values (B, H, T, K) behind the last; this cache is then used up."""
        end, size = self.length + keys.shape[2], self.keys.shape[2]
        if end > size:
            raise ConfigError(
                f"the context of {size} tokens is full: read the last of them again from the start"
            )
        self.keys[:, :, self.length : end] = keys
        self.values[:, :, self.length : end] = values
        return self._replace(length=end)

    def filled(self) -> tuple[Tensor, Tensor]:
        """Keys and values of the tokens so far, (B, H, length, K) each."""
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]
