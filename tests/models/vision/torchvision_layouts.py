"""Names and shapes of torchvision's AlexNet and VGG-16, written from their definitions.

torchvision itself is not installed where the tests run: these tables stand in for
benchmarks/torchvision_parity.py, which compares with it. They share no code with our networks, and
list every entry of the `state_dict` in order.
"""

Layout = dict[str, tuple[int, ...]]


def alexnet_layout() -> Layout:
    """`torchvision.models.alexnet()`, 1,000 classes."""
    return _with_biases(
        {
            "features.0": (64, 3, 11, 11),
            "features.3": (192, 64, 5, 5),
            "features.6": (384, 192, 3, 3),
            "features.8": (256, 384, 3, 3),
            "features.10": (256, 256, 3, 3),
            "classifier.1": (4096, 9216),
            "classifier.4": (4096, 4096),
            "classifier.6": (1000, 4096),
        }
    )


def vgg16_layout() -> Layout:
    """`torchvision.models.vgg16()`, 1,000 classes."""
    return _with_biases(
        {**_vgg16_kernels((0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)), **_VGG_DENSE}
    )


def vgg16_bn_layout() -> Layout:
    """`torchvision.models.vgg16_bn()`, 1,000 classes."""
    kernels = _vgg16_kernels((0, 3, 7, 10, 14, 17, 20, 24, 27, 30, 34, 37, 40))
    layout: Layout = {}
    for name, shape in kernels.items():
        layout |= _with_biases({name: shape})
        norm = f"features.{int(name.split('.')[1]) + 1}"
        for part in ("weight", "bias", "running_mean", "running_var"):
            layout[f"{norm}.{part}"] = shape[:1]
        layout[f"{norm}.num_batches_tracked"] = ()
    return layout | _with_biases(_VGG_DENSE)


_VGG_DENSE: Layout = {
    "classifier.0": (4096, 25088),
    "classifier.3": (4096, 4096),
    "classifier.6": (1000, 4096),
}
_VGG16_CHANNELS = (3, 64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512)


def _vgg16_kernels(places: tuple[int, ...]) -> Layout:
    widths = zip(places, _VGG16_CHANNELS[1:], _VGG16_CHANNELS[:-1], strict=True)
    return {f"features.{place}": (after, before, 3, 3) for place, after, before in widths}


def _with_biases(weights: Layout) -> Layout:
    layout: Layout = {}
    for name, shape in weights.items():
        layout[f"{name}.weight"], layout[f"{name}.bias"] = shape, shape[:1]
    return layout
