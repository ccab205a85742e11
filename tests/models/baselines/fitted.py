"""Real tables as examples, and models that learned from them."""

from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS

CLASSES = ("iris", "wine", "digits")
TABLES = (*CLASSES, "diabetes")


@cache
def table(name: str) -> tuple[Split, DataSpec]:
    """Rows with standardised features; 450 digits are enough."""
    inputs, targets = getattr(datasets, f"load_{name}")(return_X_y=True)
    inputs, targets = inputs[:450], targets[:450]
    x = torch.tensor(StandardScaler().fit_transform(inputs), dtype=torch.float32)
    if name == "diabetes":
        reals = torch.tensor(targets[:, None], dtype=torch.float32)
        return Split(inputs=x, targets=reals), spec_of(x.shape[1], target="real", outputs=1)
    outputs = int(targets.max()) + 1
    return Split(inputs=x, targets=torch.tensor(targets)), spec_of(x.shape[1], outputs=outputs)


def spec_of(*shape: int, target: Any = "class", outputs: int, inputs: Any = "features") -> DataSpec:
    return DataSpec(inputs=inputs, input_shape=shape, target=target, num_outputs=outputs)


def weighted(data: Split) -> Split:
    """The same examples, some of which count more."""
    numbers = torch.Generator().manual_seed(0)
    return Split(
        inputs=data.inputs,
        targets=data.targets,
        weights=0.2 + torch.rand(len(data), generator=numbers),
    )


def fitted(name: str, data: Split, spec: DataSpec, seed: int = 0, **settings: Any) -> Any:
    """The model of this name after all of its steps."""
    kind = MODELS.load(name)
    model: Any = kind.build(kind.settings(**settings), spec)
    for _ in model.fit_steps(data, seed):
        pass
    return model.eval()


def arrays(data: Split) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Inputs, targets and weights as scikit-learn takes them."""
    weights = None if data.weights is None else data.weights.numpy()
    return data.inputs.double().numpy(), np.squeeze(data.targets.numpy()), weights
