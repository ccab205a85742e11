r"""Where the parameters of vision networks are: what sparsity and sharing save, and what is dense.

A map from m values to n has m n weights if every output sees every input, k n if it sees k
neighbours, and k if all places share them. A dense layer after the last maps pays for every
pixel of them; a residual network averages each map first, and pays for one value a channel.

Networks are built on torch's meta device, where tensors have a shape and no memory.

Shapes: n outputs, k values of a kernel.
Source: Goodfellow, Bengio and Courville, "Deep Learning" (2016), section 9.2; He et al., "Deep
Residual Learning for Image Recognition" (2015).
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.convolution.locally_connected import LocallyConnected2d
from netwright.models.catalog import MODELS
from netwright.models.vision.resnet import ResNet
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, equals

IMAGENET = DataSpec(inputs="image", input_shape=(3, 224, 224), target="class", num_outputs=1000)
LAST_MAPS = 7 * 7  # pixels of the last maps of a residual network, for such images
NETWORKS = {
    "alexnet": "AlexNet",
    "vgg16": "VGG-16",
    "resnet34": "ResNet-34",
    "resnet50": "ResNet-50",
}
HALF = 0.5


def count(module: nn.Module) -> int:
    """Weights and biases."""
    return sum(parameter.numel() for parameter in module.parameters())


@dataclass(frozen=True, kw_only=True)
class SparseSharedConfig(Config):
    """The sizes of the map."""

    values: Annotated[int, Interval(ge=2, le=100_000), Doc("m = n, values in and out")] = 1000
    kernel: Annotated[int, Interval(ge=1, le=99), Doc("k, neighbours that an output sees")] = 3
    shared: Annotated[
        bool, Assumption("all places share one kernel; without it, each has its own")
    ] = True


def build_layers(given: SparseSharedConfig) -> dict[str, nn.Module]:
    """Maps from n values to n, without biases and without memory."""
    size, kernel = given.values, given.kernel
    with torch.device("meta"):
        # It pads nothing itself: k - 1 zeros around the n values leave a window for each output.
        local = LocallyConnected2d(1, 1, (1, size + kernel - 1), (1, kernel), bias=False)
        return {
            "dense": nn.Linear(size, size, bias=False),
            "sparse": local,
            "sparse and shared": nn.Conv1d(1, 1, kernel, padding="same", bias=False)
            if given.shared
            else local,
        }


def measure_sparse_shared(given: SparseSharedConfig, seed: int, effort: Effort) -> Verdict:
    """Build the three layers and count their weights."""
    counted = {name: count(layer) for name, layer in build_layers(given).items()}
    told = (given.values**2, given.kernel * given.values, given.kernel)
    places = range(len(counted))
    return Verdict(
        findings=tuple(
            equals(f"weights of the {name} layer", wanted, found, n=1)
            for (name, found), wanted in zip(counted.items(), told, strict=True)
        ),
        chart=ClaimChart(
            x_label="layer",
            y_label="weights",
            series=(
                predicted("m n,  k n,  k", places, told),
                measured("allocated", places, counted.values()),
            ),
            explanation=f"From {given.values:,} values to as many, each output with "
            f"{given.kernel} neighbours. Sparsity saves weights and time, sharing weights only.",
            log="y",
            categories=("dense", "sparse", "sparse\nand shared"),
        ),
    )


SPARSE_SHARED = Claim(
    card=Card(
        sentence="A map from m values to n has m n weights; k n if each output sees k neighbours; "
        "and k if all places share them.",
        formula=r"m \, n \;\rightarrow\; k \, n \;\rightarrow\; k",
        symbols={"m, n": "values in and out", "k": "values of the kernel"},
        source="Goodfellow, Bengio and Courville (2016), Deep Learning, section 9.2",
        misprint="Sparsity is often given as the reason why convolutions follow shifts; sharing is."
        " And sharing does not save time: each place still takes k multiplications.",
    ),
    topic="Images",
    kind="theorem",
    settings=SparseSharedConfig,
    experiment=measure_sparse_shared,
)


@dataclass(frozen=True, kw_only=True)
class ResNetDenseConfig(Config):
    """What the dense layer of a residual network reads."""

    averaged: Annotated[
        bool,
        Assumption("each last map is averaged; without it, the dense layer reads all its pixels"),
    ] = True


def dense_share(name: str, *, averaged: bool = True) -> float:
    """The share of a network's parameters that lies in dense layers."""
    kind = MODELS.load(name)
    with torch.device("meta"):
        net = kind.build(kind.settings(), IMAGENET)
        if isinstance(net, ResNet) and not averaged:
            net.fc = nn.Linear(net.fc.in_features * LAST_MAPS, net.fc.out_features)
    dense = sum(count(layer) for layer in net.modules() if isinstance(layer, nn.Linear))
    return dense / count(net)


def measure_resnet_dense(given: ResNetDenseConfig, seed: int, effort: Effort) -> Verdict:
    """Count the parameters of dense layers, of residual networks and of older ones."""
    shares = {name: dense_share(name, averaged=given.averaged) for name in NETWORKS}
    return Verdict(
        findings=tuple(
            at_least(f"share of {NETWORKS[name]} that is in dense layers", HALF, shares[name], n=1)
            for name in ("resnet50", "resnet34", "alexnet", "vgg16")
        ),
        chart=ClaimChart(
            x_label="network, for images of 224 x 224 and 1000 classes",
            y_label="parameters in dense layers, %",
            series=(
                predicted("most: at least half", range(len(shares)), [100 * HALF] * len(shares)),
                measured("counted", range(len(shares)), [100 * one for one in shares.values()]),
            ),
            explanation="AlexNet and VGG read the pixels of their last maps by a dense layer, a "
            "residual network their means: "
            f"{100 * shares['resnet50']:.1f} % of ResNet-50 is dense, and "
            f"{100 * shares['alexnet']:.1f} % of AlexNet.",
            categories=tuple(NETWORKS.values()),
        ),
    )


RESNET_DENSE = Claim(
    card=Card(
        sentence="Most parameters of a residual network are in its dense layers.",
        formula=r"\frac{\mathrm{parameters\ of\ dense\ layers}}{\mathrm{all\ parameters}}"
        r" \geq \frac{1}{2}",
        source="He, Zhang, Ren and Sun (2015), arXiv 1512.03385",
        misprint="True of AlexNet and VGG. Residual networks average each last map to one value, "
        "so that little is left for a dense layer to read.",
    ),
    topic="Images",
    kind="false",
    settings=ResNetDenseConfig,
    experiment=measure_resnet_dense,
)
