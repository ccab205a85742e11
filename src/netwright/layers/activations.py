"""Activation functions by name; all are torch's own and work on each number by itself."""

from dataclasses import dataclass

from torch import nn

from netwright.core.card import Card
from netwright.core.catalog import Catalog


@dataclass(frozen=True, kw_only=True)
class Activation:
    """A row's part in the catalog of activations.

    Args:
        make: an ordinary torch module, with its settings as they come.
        card: sentence, formula, symbols, source.
    """

    make: type[nn.Module]
    card: Card

    def __call__(self) -> nn.Module:
        """A fresh module."""
        return self.make()


_Z = {"z": "what comes in, of any shape"}

IDENTITY = Activation(
    make=nn.Identity,
    card=Card(
        sentence="Nothing happens: layers without a nonlinearity between them are one linear map.",
        formula=r"\phi(z) = z",
        symbols=_Z,
        source="Widrow and Hoff (1960), IRE WESCON Convention Record 4, 96-104",
    ),
)
SIGMOID = Activation(
    make=nn.Sigmoid,
    card=Card(
        sentence="Squash every number into (0, 1), as a probability; flat at both ends.",
        formula=r"\sigma(z) = \frac{1}{1 + e^{-z}}",
        symbols=_Z,
        source="Rumelhart, Hinton and Williams (1986), Nature 323, 533-536",
        misprint="Its slope s (1 - s), not the function itself, is at most 1/4, at z = 0.",
    ),
)
TANH = Activation(
    make=nn.Tanh,
    card=Card(
        sentence="Squash every number into (-1, 1), around zero; flat at both ends.",
        formula=r"\tanh(z) = \frac{e^z - e^{-z}}{e^z + e^{-z}}",
        symbols=_Z,
        source="LeCun et al. (1998), Efficient BackProp, section 4.4",
    ),
)
RELU = Activation(
    make=nn.ReLU,
    card=Card(
        sentence="Keep what is positive, with slope 1, and make the rest zero, with slope 0.",
        formula=r"\phi(z) = \max(0, z)",
        symbols=_Z,
        source="Nair and Hinton (2010), ICML 27, 807-814",
        misprint="It is sometimes listed among the bounded activations; its values have no bound.",
    ),
)
LEAKY_RELU = Activation(
    make=nn.LeakyReLU,
    card=Card(
        sentence="A ReLU with a small slope below zero, so that no unit stops learning for good.",
        formula=r"\phi(z) = \max(0, z) + a \min(0, z)",
        symbols={**_Z, "a": "the slope below zero, 0.01"},
        source="Maas, Hannun and Ng (2013), ICML workshop on speech and language",
    ),
)
ELU = Activation(
    make=nn.ELU,
    card=Card(
        sentence="The line above zero, an exponential that levels off at -1 below it.",
        formula=r"\phi(z) = \max(0, z) + \min(0, e^z - 1)",
        symbols=_Z,
        source="Clevert, Unterthiner and Hochreiter (2016), arXiv 1511.07289",
    ),
)
GELU = Activation(
    make=nn.GELU,
    card=Card(
        sentence="Weigh each number by the chance that a standard normal one lies below it.",
        formula=r"\phi(z) = z \Phi(z) = \frac{z}{2} (1 + \operatorname{erf}(z / \sqrt{2}))",
        symbols={**_Z, r"\Phi": "the distribution function of the standard normal"},
        source="Hendrycks and Gimpel (2016), arXiv 1606.08415",
    ),
)
SILU = Activation(
    make=nn.SiLU,
    card=Card(
        sentence="Weigh each number by its own sigmoid; also called swish.",
        formula=r"\phi(z) = z \sigma(z) = \frac{z}{1 + e^{-z}}",
        symbols={**_Z, r"\sigma": "the sigmoid"},
        source="Elfwing, Uchibe and Doya (2018), Neural Networks 107, 3-11",
    ),
)
SOFTPLUS = Activation(
    make=nn.Softplus,
    card=Card(
        sentence="A ReLU without its corner; its slope is the sigmoid.",
        formula=r"\phi(z) = \log(1 + e^z)",
        symbols=_Z,
        source="Dugas et al. (2001), Advances in Neural Information Processing Systems 13",
    ),
)
HARD_TANH = Activation(
    make=nn.Hardtanh,
    card=Card(
        sentence="Cut every number off at -1 and 1.",
        formula=r"\phi(z) = \max(-1, \min(1, z))",
        symbols=_Z,
        source="Collobert (2004), Large Scale Machine Learning, thesis, Paris VI",
    ),
)

ACTIVATIONS: Catalog[Activation] = Catalog(
    "activation",
    {
        name: f"netwright.layers.activations:{name.replace('-', '_').upper()}"
        for name in (
            "identity",
            "sigmoid",
            "tanh",
            "relu",
            "leaky-relu",
            "elu",
            "gelu",
            "silu",
            "softplus",
            "hard-tanh",
        )
    },
)


def build_activation(name: str) -> nn.Module:
    """A fresh module for the activation of this name."""
    return ACTIVATIONS.load(name)()
