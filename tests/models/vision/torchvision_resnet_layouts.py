"""Names and shapes of torchvision's ResNet-18 and ResNet-50, written down.

They stand in for benchmarks/torchvision_parity.py, which compares with torchvision itself.

A line is a convolution: its name, channels out, channels in, size of the kernel. None has a bias.
Each is followed by a batch norm of its channels: `bn` in the place of `conv`, or `downsample.1`
after `downsample.0`.
"""

Layout = dict[str, tuple[int, ...]]

RESNET18 = """
conv1 64 3 7
layer1.0.conv1 64 64 3
layer1.0.conv2 64 64 3
layer1.1.conv1 64 64 3
layer1.1.conv2 64 64 3
layer2.0.conv1 128 64 3
layer2.0.conv2 128 128 3
layer2.0.downsample.0 128 64 1
layer2.1.conv1 128 128 3
layer2.1.conv2 128 128 3
layer3.0.conv1 256 128 3
layer3.0.conv2 256 256 3
layer3.0.downsample.0 256 128 1
layer3.1.conv1 256 256 3
layer3.1.conv2 256 256 3
layer4.0.conv1 512 256 3
layer4.0.conv2 512 512 3
layer4.0.downsample.0 512 256 1
layer4.1.conv1 512 512 3
layer4.1.conv2 512 512 3
"""

RESNET50 = """
conv1 64 3 7
layer1.0.conv1 64 64 1
layer1.0.conv2 64 64 3
layer1.0.conv3 256 64 1
layer1.0.downsample.0 256 64 1
layer1.1.conv1 64 256 1
layer1.1.conv2 64 64 3
layer1.1.conv3 256 64 1
layer1.2.conv1 64 256 1
layer1.2.conv2 64 64 3
layer1.2.conv3 256 64 1
layer2.0.conv1 128 256 1
layer2.0.conv2 128 128 3
layer2.0.conv3 512 128 1
layer2.0.downsample.0 512 256 1
layer2.1.conv1 128 512 1
layer2.1.conv2 128 128 3
layer2.1.conv3 512 128 1
layer2.2.conv1 128 512 1
layer2.2.conv2 128 128 3
layer2.2.conv3 512 128 1
layer2.3.conv1 128 512 1
layer2.3.conv2 128 128 3
layer2.3.conv3 512 128 1
layer3.0.conv1 256 512 1
layer3.0.conv2 256 256 3
layer3.0.conv3 1024 256 1
layer3.0.downsample.0 1024 512 1
layer3.1.conv1 256 1024 1
layer3.1.conv2 256 256 3
layer3.1.conv3 1024 256 1
layer3.2.conv1 256 1024 1
layer3.2.conv2 256 256 3
layer3.2.conv3 1024 256 1
layer3.3.conv1 256 1024 1
layer3.3.conv2 256 256 3
layer3.3.conv3 1024 256 1
layer3.4.conv1 256 1024 1
layer3.4.conv2 256 256 3
layer3.4.conv3 1024 256 1
layer3.5.conv1 256 1024 1
layer3.5.conv2 256 256 3
layer3.5.conv3 1024 256 1
layer4.0.conv1 512 1024 1
layer4.0.conv2 512 512 3
layer4.0.conv3 2048 512 1
layer4.0.downsample.0 2048 1024 1
layer4.1.conv1 512 2048 1
layer4.1.conv2 512 512 3
layer4.1.conv3 2048 512 1
layer4.2.conv1 512 2048 1
layer4.2.conv2 512 512 3
layer4.2.conv3 2048 512 1
"""


def layout(convolutions: str, features: int) -> Layout:
    """Name -> shape, in the order of the `state_dict`; the head has 1000 outputs."""
    shapes: Layout = {}
    for line in convolutions.split("\n")[1:-1]:
        name, *sizes = line.split()
        after, before, kernel = map(int, sizes)
        norm = name.replace("conv", "bn").replace("downsample.0", "downsample.1")
        shapes[f"{name}.weight"] = (after, before, kernel, kernel)
        for part in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{norm}.{part}"] = (after,)
        shapes[f"{norm}.num_batches_tracked"] = ()
    return {**shapes, "fc.weight": (1000, features), "fc.bias": (1000,)}


def resnet18_layout() -> Layout:
    """122 tensors."""
    return layout(RESNET18, 512)


def resnet50_layout() -> Layout:
    """320 tensors."""
    return layout(RESNET50, 2048)
