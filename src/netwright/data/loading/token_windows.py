"""Windows of a stream of token files as a split: a few of them in memory, the others in the files.

    input  n = stream[T n     : T n + T]
    target n = stream[T n + 1 : T n + T + 1]

Whatever looks at examples before or after training (checks, baseline, doctor, views) looks at those
in memory, which are spread evenly; training reads the files, see `token_loader.py`.

Shapes: N windows of the stream, n of them in memory, T tokens of each.
"""

import hashlib
import json

import numpy as np
import torch
from torch import Tensor

from netwright.core.checks import check_positive
from netwright.core.errors import DataError
from netwright.data.dataset import Split
from netwright.data.loading.piece_order import Pieces
from netwright.data.loading.stored import evenly_spaced
from netwright.data.loading.token_files import TokenStream

MOST_IN_MEMORY = 2_000  # windows
MOST_TOKENS = 2**22  # of them together


class TokenWindows:
    """The windows of a stream that follow each other without a gap; tokens after the last are left.

    Args:
        stream: of token files.
        window: tokens of a window, T.
    """

    def __init__(self, stream: TokenStream, window: int) -> None:
        check_positive("window", window)
        if len(stream) <= window:
            raise DataError(
                f"{stream.folder} has {len(stream):,} tokens to train on, wanted more than "
                f"window={window}"
            )
        self.stream, self.window = stream, window

    def __len__(self) -> int:
        return (len(self.stream) - 1) // self.window

    def read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The inputs and the targets (B, T) of windows (B,), views of what was read once."""
        tokens = self.stream.read(rows * self.window, self.window + 1)
        return tokens[:, :-1], tokens[:, 1:]

    @property
    def pieces(self) -> Pieces | None:
        """The files of windows, where copies of all of them are never at hand at once."""
        held = 0 if self.stream.remote is None else self.stream.remote.held
        if not held:
            return None
        # A window is where its first token is.
        ends = np.minimum(-(-self.stream.ends // self.window), len(self))
        sizes = self.stream.dtype.itemsize * np.diff(self.stream.ends, prepend=0)
        return Pieces(
            ends=torch.from_numpy(ends),
            sizes=torch.from_numpy(sizes),
            files=torch.arange(len(ends)),
            block=max(1, int(sizes.sum())),  # all windows of a set of files are mixed
            held=held,
        )

    def shown(self, most: int) -> Tensor:
        """At most so many windows, evenly spaced: of files that are at hand at once."""
        pieces = self.pieces
        if pieces is None:
            return evenly_spaced(len(self), most)
        first = int((pieces.sizes.cumsum(0) <= pieces.held).sum())
        return evenly_spaced(int(pieces.ends[max(first, 1) - 1]), most)

    def fingerprint(self) -> str:
        """A digest of the sums of all files, which are not read for it, and of their order."""
        files = [(file.tokens, file.sha256) for file in self.stream.files]
        told = [files, self.stream.dtype.str, self.window]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()


class TokenSplit(Split):
    """A split that is read from token files; as a split it is the windows that are in memory.

    Args:
        windows: all of them.
        inputs: of the windows in memory (n, T); None: they are read now.
        targets: of the windows in memory (n, T).
    """

    windows: TokenWindows

    def __init__(
        self,
        *,
        windows: TokenWindows,
        inputs: Tensor | None = None,
        targets: Tensor | None = None,
    ) -> None:
        if inputs is None or targets is None:
            most = max(1, min(MOST_IN_MEMORY, MOST_TOKENS // windows.window))
            inputs, targets = windows.read(windows.shown(most))
        values = {"windows": windows, "inputs": inputs, "targets": targets, "weights": None}
        for name, value in values.items():
            object.__setattr__(self, name, value)  # a split is frozen

    def __repr__(self) -> str:
        return (
            f"TokenSplit({self.total:,} windows of {self.windows.window} in "
            f"{len(self.windows.stream.files):,} files; {len(self):,} in memory)"
        )

    @property
    def total(self) -> int:
        """The windows of all files."""
        return len(self.windows)

    def order(self, random: torch.Generator) -> Tensor:
        """See `Split.order`; files whose copies are at hand at once follow each other."""
        pieces = self.windows.pieces
        rows = torch.arange(self.total)
        return super().order(random) if pieces is None else pieces.order(rows, random)

    def to_measure(self) -> Split:
        """What is measured: the windows in memory, for all would take as long as to train."""
        return Split(inputs=self.inputs, targets=self.targets)

    def check_inputs(self, name: str) -> None:
        """Nothing to do: tokens are compared with the vocabulary as they are read."""

    def to(self, device: torch.device) -> "TokenSplit":
        """Batches come to this device, and the windows in memory lie there."""
        inputs, targets = self.inputs.to(device), self.targets.to(device)
        return TokenSplit(windows=self.windows, inputs=inputs, targets=targets)
