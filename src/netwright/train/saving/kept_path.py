"""The path of the weights through training, as one file: `path.safetensors` in a run folder.

Shapes: S snapshots; a weight of shape (...) is kept as (S, ...).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.files.inside import has_file, open_folder
from netwright.core.files.open_tensors import open_tensors
from netwright.core.files.storage import write_bytes
from netwright.core.files.tensor_content import TensorContent

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
        told = {STEPS: " ".join(map(str, self.steps))}
        write_bytes(file, TensorContent(self.weights, told))


def read_kept_path(folder: Path | None) -> KeptPath | None:
    """The path that a run folder holds; None where it holds none, or where there is no folder."""
    if folder is None or not has_file(folder / FILE):
        return None
    try:
        with (
            open_folder(folder) as here,
            here.read(FILE) as file,
            open_tensors(file, folder / FILE) as kept,
        ):
            steps = tuple(map(int, kept.metadata()[STEPS].split()))
            return KeptPath(
                steps=steps, weights={name: kept.get_tensor(name) for name in kept.keys()}
            )
    except DataError:
        raise
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder / FILE} is damaged: {error!r:.100}") from None
