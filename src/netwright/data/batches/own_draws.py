"""Random numbers of a data loader, apart from those of training: neither changes the other's.

Beginning and every further batch run with generators of torch and NumPy that belong to the data
alone, so the batches of an epoch are a function of its seed, and dropout does not depend on how
many numbers an augmentation draws. Python's own generator is not among them: to exchange it for
each batch would take longer than a small step, and training draws nothing from it.
"""

import numpy as np
import torch
from numpy.random import BitGenerator, mtrand


class OwnDraws:
    """Generators that are put in the place of the process's own for a block.

        with draws:        inside, draws are ours; after it the process goes on with its own

    Args:
        seed: of all of them.
    """

    def __init__(self, seed: int) -> None:
        self._torch = torch.Generator().manual_seed(seed).get_state()
        self._numpy: BitGenerator = np.random.MT19937(seed)

    def __enter__(self) -> None:
        self._exchange()

    def __exit__(self, *_: object) -> None:
        self._exchange()

    def _exchange(self) -> None:
        """Keep what is in place, and put what was kept there."""
        torch_state, numpy_generator = torch.default_generator.get_state(), _numpy_generator()
        torch.default_generator.set_state(self._torch)
        _use_in_numpy(self._numpy)
        self._torch, self._numpy = torch_state, numpy_generator


_numpy_generator = mtrand.get_bit_generator
_use_in_numpy = mtrand.set_bit_generator
