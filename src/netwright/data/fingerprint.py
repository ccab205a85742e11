"""What rows a split holds, as two short texts: one of the rows, one of the rows in their order.

Two splits with equal `rows` but different `order` hold the same examples in another order.

Shapes: N examples, B bytes of one of them.
"""

import hashlib
from collections.abc import Iterator

import torch
from torch import Tensor

from netwright.data.dataset import Split
from netwright.data.stored import StoredSplit

CHUNK = 4096  # rows at a time


def fingerprint(split: Split) -> dict[str, str | int]:
    """Its number of rows, and hashes of its rows without and with their order."""
    order = hashlib.sha256()
    total = torch.zeros((), dtype=torch.int64)
    for part in _row_bytes(split):  # (n, B)
        order.update(part.numpy().data)
        total += _row_numbers(part).sum()
    rows = f"{int(total) % 2**64:016x}"
    if isinstance(split, StoredSplit):
        rows = f"{rows} {split.stored.fingerprint()[:16]}"
    return {"count": len(split), "rows": rows, "order": order.hexdigest()[:16]}


def _row_bytes(split: Split) -> Iterator[Tensor]:
    """Inputs, target and weight side by side as bytes (n, B), some rows at a time; 4 divides B."""
    # Stored inputs are too many to be read for this: their places stand for them.
    inputs = split.rows if isinstance(split, StoredSplit) else split.inputs
    parts = [inputs, split.targets]
    if split.weights is not None:
        parts.append(split.weights)
    for start in range(0, len(split), CHUNK):
        rows = [part[start : start + CHUNK].detach().cpu().contiguous() for part in parts]
        flat = [part.reshape(len(part), -1).view(torch.uint8) for part in rows]
        width = sum(part.shape[1] for part in flat)
        flat.append(torch.zeros(len(flat[0]), -width % 4, dtype=torch.uint8))
        yield torch.cat(flat, dim=1)


def _row_numbers(rows: Tensor) -> Tensor:
    """A number (n,) for each row of bytes (n, B), such that a sum tells which rows there are.

    A sum of the bytes themselves would not notice two rows that exchange a value: places are
    weighed by odd numbers, and the result is mixed before it is added up.
    """
    words = rows.view(torch.int32)
    random = torch.Generator().manual_seed(words.shape[1])
    factors = torch.randint(-(2**62), 2**62, (words.shape[1],), generator=random) | 1
    numbers = (words * factors).sum(dim=1)  # modulo 2**64
    numbers = (numbers ^ (numbers >> 31)) * 0x5851F42D4C957F2D
    return numbers ^ (numbers >> 29)
