"""The losses that can be named."""

from netwright.core.catalog import Catalog
from netwright.losses.loss import Loss

LOSSES: Catalog[Loss] = Catalog(
    "loss",
    {
        "squared-error": "netwright.losses.regression:SQUARED_ERROR",
        "absolute-error": "netwright.losses.regression:ABSOLUTE_ERROR",
        "huber": "netwright.losses.regression:HUBER",
        "cross-entropy": "netwright.losses.classification:CROSS_ENTROPY",
        "focal": "netwright.losses.focal:FOCAL",
        "nll": "netwright.losses.classification:NLL",
        "binary-cross-entropy": "netwright.losses.classification:BINARY_CROSS_ENTROPY",
        "hinge": "netwright.losses.classification:HINGE",
        "perceptron": "netwright.losses.classification:PERCEPTRON",
        "dice": "netwright.losses.segmentation:DICE",
        "set-prediction": "netwright.losses.set_prediction:SET_PREDICTION",
        "cross-entropy-dice": "netwright.losses.segmentation:CROSS_ENTROPY_DICE",
    },
)
