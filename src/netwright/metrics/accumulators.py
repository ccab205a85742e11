"""Running sums over batches, kept on the device and read once.

`add` runs every training step, so it never waits for the device: it checks shapes, which the host
knows, and queues a few small sums. Values that cannot be checked without waiting are counted apart
and refused when the meter is read.

Meters merge by adding their `sums`, which is also how ranks merge: after
`torch.distributed.all_reduce(meter.sums)` every rank holds the meter that has seen all the data.

Shapes: N samples, C classes.
"""

import torch
from torch import Tensor

from netwright.core.checks import check_positive, check_shape
from netwright.core.errors import DataError, ShapeError
from netwright.metrics.samples import exact_dtype


class MeanMeter:
    """The weighted mean of all that was added: sum w v / sum w.

    Args:
        device: where the values live.
    """

    def __init__(self, device: torch.device | str = "cpu") -> None:
        self._sums = torch.zeros(2, dtype=exact_dtype(device), device=device)
        self._total = self._sums[0]  # a view, made once: indexing costs as much as adding
        self._host_weight = 0.0  # weights that are plain numbers need no device until they are read

    @property
    def sums(self) -> Tensor:
        """The tensor (2,) of sum w v and sum w; to add to it is to merge."""
        if self._host_weight:
            self._sums[1].add_(self._host_weight)
            self._host_weight = 0.0
        return self._sums

    def add(self, values: Tensor, weights: Tensor | float = 1.0) -> None:
        """Count values of any shape, without waiting for the device.

        Args:
            values: single values, or the mean of a batch as a tensor without dimensions.
            weights: how much each value counts, of the same shape; a number counts for each: the
                batch size beside the mean of a batch.
        """
        values = values.detach()
        if isinstance(weights, Tensor):
            if weights.shape != values.shape:
                raise ShapeError(
                    "weights must have the shape of values, "
                    f"got {tuple(weights.shape)} and {tuple(values.shape)}"
                )
            exact = weights.detach().to(self._sums.dtype)
            self._total.add_((values * exact).sum())
            self._sums[1].add_(exact.sum())
        else:
            total = values.sum(dtype=self._sums.dtype) if values.ndim else values
            self._total.add_(total, alpha=weights)
            self._host_weight += weights * values.numel()

    def merge(self, other: "MeanMeter") -> None:
        """Become the meter that has seen what both have."""
        self.sums.add_(other.sums.to(self._sums.device))

    def value(self) -> float:
        """The mean, in one read of the device; NaN where nothing was added."""
        total, weight = self.sums.unbind()
        return (total / weight).item()


class ConfusionMeter:
    """The confusion matrix of all that was added, row = target, column = prediction.

    Args:
        num_classes: C.
        device: where targets and predictions live.
    """

    def __init__(self, num_classes: int, device: torch.device | str = "cpu") -> None:
        check_positive("num_classes", num_classes)
        self.num_classes = num_classes
        # One cell more than the matrix has: samples whose class lies outside [0, C).
        self.sums = torch.zeros(num_classes**2 + 1, dtype=exact_dtype(device), device=device)

    def add(self, targets: Tensor, predicted: Tensor, weights: Tensor | None = None) -> None:
        """Count a batch, int64 (N,) both, with weights (N,), without waiting for the device."""
        check_shape("targets", targets, "N")
        check_shape("predicted", predicted, len(targets))
        pairs = torch.stack((targets, predicted))  # (2, N)
        inside = (pairs == pairs.clamp(0, self.num_classes - 1)).all(dim=0)
        cells = torch.where(inside, targets * self.num_classes + predicted, self.num_classes**2)
        if weights is None:
            amounts = torch.ones_like(cells, dtype=self.sums.dtype)
        else:
            check_shape("weights", weights, len(targets))
            amounts = weights.detach().to(self.sums.dtype)
        self.sums.index_add_(0, cells, amounts)

    def merge(self, other: "ConfusionMeter") -> None:
        """Become the meter that has seen what both have."""
        if self.num_classes != other.num_classes:
            raise ShapeError(
                "meters that merge must have the same number of classes, "
                f"got {self.num_classes} and {other.num_classes}"
            )
        self.sums.add_(other.sums.to(self.sums.device))

    def value(self) -> Tensor:
        """The matrix (C, C); refuse it where a class outside [0, C) was added."""
        outside = self.sums[-1].item()
        if outside:
            raise DataError(
                f"classes must lie in [0, {self.num_classes}), got others in {outside:g} samples"
            )
        return self.sums[:-1].view(self.num_classes, self.num_classes).clone()
