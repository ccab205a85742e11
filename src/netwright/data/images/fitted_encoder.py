"""The encoder of images of your own: what they are brought to, what they show, how they are scaled.

Shapes: N images, B of them read together, C channels, I rows, J columns.
"""

from collections.abc import Callable

from torch import Tensor

from netwright.data.images.decoding import ImageForm
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.labelled import LabelledImages
from netwright.data.images.normalization import Normalization, agreed_scaling, measured_scaling
from netwright.data.loading.stored import evenly_spaced

MOST_MEASURED = 2048  # training images from which mean and scale are taken


def fit_encoder(
    images: LabelledImages,
    form: ImageForm,
    normalize: Normalization,
    train: Tensor,
    pixels: Callable[[Tensor], Tensor],
) -> ImageEncoder:
    """What encodes images as the training images are.

    Args:
        images: what they show.
        form: what they are brought to.
        normalize: by agreed numbers, or by those of the training images.
        train: which images these are (N,).
        pixels: gives the bytes (B, C, I, J) of some images (B,).
    """
    if normalize == "train":
        scaling = measured_scaling(pixels(train[evenly_spaced(len(train), MOST_MEASURED)]))
    else:
        scaling = agreed_scaling(normalize, form.mode)
    return ImageEncoder(
        input_shape=form.shape,
        mode=form.mode,
        resize=form.resize,
        target=images.target,
        num_outputs=images.num_outputs,
        class_names=images.class_names,
        target_names=images.target_names,
        mean=scaling.mean,
        scale=scaling.scale,
    )
