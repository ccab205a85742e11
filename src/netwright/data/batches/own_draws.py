"""Random numbers of a data loader, apart from those of training: neither changes the other's.

Beginning and every further batch run with generators of torch and NumPy that belong to the data
alone, so the batches of an epoch are a function of its seed, and dropout does not depend on how
many numbers an augmentation draws. Python's own generator is not among them: to exchange it for
each batch would take longer than a small step, and training draws nothing from it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.random import BitGenerator, mtrand


class OwnDraws:
    """Generators that are put in the place of the process's own for a block.

    Args:
        seed: of all of them.
    """

    def __init__(self, seed: int) -> None:
        self._torch = torch.Generator().manual_seed(seed).get_state()
        self._numpy: BitGenerator = np.random.MT19937(seed)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Draws inside the block are ours; after it the process goes on with its own."""
        others, numpy_others = torch.get_rng_state(), mtrand.get_bit_generator()
        torch.set_rng_state(self._torch)
        mtrand.set_bit_generator(self._numpy)
        try:
            yield
        finally:
            self._torch = torch.get_rng_state()
            self._numpy = mtrand.get_bit_generator()
            torch.set_rng_state(others)
            mtrand.set_bit_generator(numpy_others)
