"""Random changes of training images, a batch at a time, on the device that the batch is on."""

from netwright.data.augment.catalog import AUGMENTATIONS as AUGMENTATIONS
from netwright.data.augment.pipeline import Pipeline as Pipeline
from netwright.data.augment.pipeline import parse_augmentations as parse_augmentations
