"""Activation functions by name; all are torch's own."""

from torch import nn

from netwright.core.catalog import Catalog

ACTIVATIONS: Catalog[type[nn.Module]] = Catalog(
    "activation",
    {
        "identity": "torch.nn:Identity",
        "sigmoid": "torch.nn:Sigmoid",
        "tanh": "torch.nn:Tanh",
        "relu": "torch.nn:ReLU",
        "leaky-relu": "torch.nn:LeakyReLU",
        "elu": "torch.nn:ELU",
        "gelu": "torch.nn:GELU",
        "silu": "torch.nn:SiLU",
        "softplus": "torch.nn:Softplus",
        "hard-tanh": "torch.nn:Hardtanh",
    },
)


def build_activation(name: str) -> nn.Module:
    """A fresh module for the activation of this name."""
    return ACTIVATIONS.load(name)()
