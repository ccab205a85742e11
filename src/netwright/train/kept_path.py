"""The path of the weights through training, as one file: `path.safetensors` in a run folder.

Shapes: S snapshots; a weight of shape (...) is kept as (S, ...).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.storage import write_bytes

FILE = "path.safetensors"
STEPS = "steps"


@dataclass(frozen=True, kw_only=True)
class KeptPath:
    """Snapshots of the weights.

    Args:
        steps: updates that were made before each snapshot, rising.
        weights: name -> the snapshots of this weight, (S, ...).
    """

    steps: tuple[int, ...]
    weights: Mapping[str, Tensor]

    @property
    def snapshots(self) -> dict[int, dict[str, Tensor]]:
        """Step -> the weights then, by name."""
        return {
            step: {name: tensor[place] for name, tensor in self.weights.items()}
            for place, step in enumerate(self.steps)
        }

    def save(self, file: Path) -> None:
        """Write the file, whole or not at all."""
        tensors = {name: tensor.contiguous() for name, tensor in self.weights.items()}
        write_bytes(file, save(tensors, {STEPS: " ".join(map(str, self.steps))}))


def read_kept_path(folder: Path | None) -> KeptPath | None:
    """The path that a run folder holds; None where it holds none, or where there is no folder."""
    if folder is None or not (folder / FILE).is_file():
        return None
    try:
        with safe_open(folder / FILE, "pt") as file:
            steps = tuple(map(int, file.metadata()[STEPS].split()))
            return KeptPath(
                steps=steps, weights={name: file.get_tensor(name) for name in file.keys()}
            )
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder / FILE} is damaged: {error!r:.100}") from None
