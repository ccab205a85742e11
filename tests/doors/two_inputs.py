"""Data of several inputs, and a module that reads them as one tree."""

import torch
from torch import Tensor, nn

from netwright.core.trees import Tree
from netwright.data.dataset import Data, Split
from netwright.data.spec import DataSpec
from netwright.data.tree_encoder import TreeEncoder


class TwoInputs(nn.Module):
    """Reads numbers (B, 3) and a category (B,), from a dict or a tuple of the two."""

    def __init__(self, outputs: int = 2) -> None:
        super().__init__()
        self.embedding, self.hidden = nn.Embedding(5, 4), nn.Linear(7, 8)
        self.head = nn.Linear(8, outputs)

    def forward(self, parts: Tree) -> Tensor:
        """(B, K)."""
        numbers, category = parts.values() if isinstance(parts, dict) else parts
        joined = torch.cat([numbers, self.embedding(category)], dim=1)
        logits: Tensor = self.head(torch.relu(self.hidden(joined)))
        return logits


def two_inputs(rows: int, seed: int = 0) -> tuple[dict[str, Tensor], Tensor]:
    """Numbers and a category, and the class (N,) that follows from both."""
    random = torch.Generator().manual_seed(seed)
    numbers = torch.randn(rows, 3, generator=random)
    category = torch.randint(0, 5, (rows,), generator=random)
    return {"numbers": numbers, "category": category}, (numbers[:, 0] + category > 2).long()


def two_inputs_data() -> Data:
    """64 training rows, 16 each to choose by and to report on."""
    inputs, targets = two_inputs(96)
    whole = Split(inputs=inputs, targets=targets)
    train, val, test = torch.split(torch.arange(96), [64, 16, 16])
    names = ("0", "1")
    return Data(
        name="two inputs",
        spec=DataSpec(
            inputs="parts", input_shape=(), target="class", num_outputs=2, class_names=names,
            class_type="int",
        ),
        train=whole.take(train),
        val=whole.take(val),
        test=whole.take(test),
        preprocessor=TreeEncoder(
            form="dict",
            names=("numbers", "category"),
            shapes=((3,), ()),
            dtypes=("float32", "int64"),
            target="class",
            num_outputs=2,
            class_names=names,
        ),
    )  # fmt: skip
