"""Norms: all that torch has are known as such."""

from torch import nn

from netwright.layers.norms import NORMS


def test_every_norm_of_torch_that_has_weights_is_known() -> None:
    named = {name: getattr(nn, name) for name in dir(nn) if "Norm" in name}
    unknown = {name for name, kind in named.items() if not issubclass(kind, NORMS)}
    lazy = {name for name in named if name.startswith("Lazy")}  # they become the others when used
    assert unknown - lazy == {"LocalResponseNorm"}
