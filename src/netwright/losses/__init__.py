"""Losses: how far outputs are from targets, and what else is to be small."""

from netwright.losses.catalog import LOSSES
from netwright.losses.classification import (
    binary_cross_entropy,
    cross_entropy,
    hinge,
    negative_log_likelihood,
    perceptron,
)
from netwright.losses.focal import focal
from netwright.losses.loss import Loss
from netwright.losses.penalty import Penalty
from netwright.losses.regression import absolute_error, huber, squared_error
from netwright.losses.segmentation import cross_entropy_dice, pixel_cross_entropy, soft_dice
from netwright.losses.sequence import token_cross_entropy

__all__ = [
    "LOSSES",
    "Loss",
    "Penalty",
    "absolute_error",
    "binary_cross_entropy",
    "cross_entropy",
    "cross_entropy_dice",
    "focal",
    "hinge",
    "huber",
    "negative_log_likelihood",
    "perceptron",
    "pixel_cross_entropy",
    "soft_dice",
    "squared_error",
    "token_cross_entropy",
]
