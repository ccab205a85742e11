"""The table of augmentations."""

from netwright.core.catalog import Catalog
from netwright.data.augment.augmentation import Augmentation

AUGMENTATIONS: Catalog[Augmentation] = Catalog(
    "augmentation",
    {
        "flip": "netwright.data.augment.geometric:FLIP",
        "flip-vertical": "netwright.data.augment.geometric:FLIP_VERTICAL",
        "crop": "netwright.data.augment.geometric:CROP",
        "rotation": "netwright.data.augment.geometric:ROTATION",
        "zoom": "netwright.data.augment.geometric:ZOOM",
        "elastic": "netwright.data.augment.geometric:ELASTIC",
        "brightness": "netwright.data.augment.colour:BRIGHTNESS",
        "contrast": "netwright.data.augment.colour:CONTRAST",
        "colour-jitter": "netwright.data.augment.colour:COLOUR_JITTER",
        "noise": "netwright.data.augment.noise:NOISE",
        "cutout": "netwright.data.augment.cutout:CUTOUT",
        "mixup": "netwright.data.augment.mixup:MIXUP",
        "cutmix": "netwright.data.augment.cutmix:CUTMIX",
    },
)
MIXING = frozenset({"mixup", "cutmix"})  # those that change targets, too
