"""The numbers of a GPT that a plan is made of: how many weights, where, and of what shapes."""

from typing import NamedTuple

from netwright.core.config import Config, parse
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.dry_build import build_dry
from netwright.models.transformers.gpt import GPTConfig

USUAL_VOCABULARY = 50_257  # GPT-2's


class GPTSize(NamedTuple):
    """What is known of the network.

    Args:
        weights: P.
        multiplied: M, those in products; the tied head counts, the tables of embeddings do not.
        layers: L.
        width: D.
        vocabulary: V.
        tokens: T.
        tensors: the weights of each tensor.
    """

    weights: int
    multiplied: int
    layers: int
    width: int
    vocabulary: int
    tokens: int
    tensors: tuple[int, ...] = ()


def size_of(
    model: str, tokens: int, vocabulary: int = USUAL_VOCABULARY, **settings: int
) -> GPTSize:
    """The network of a name in the catalog, of which only shapes are made; others are refused."""
    kind = MODELS.load(model)
    if not issubclass(kind.settings, GPTConfig):
        raise ConfigError(f"plan knows models of the gpt family, got {model}")
    config: Config = parse(kind.settings, settings, "model")
    spec = DataSpec(
        inputs="tokens",
        input_shape=(tokens,),
        target="tokens",
        num_outputs=vocabulary,
        vocab_size=vocabulary,
    )
    built = build_dry(lambda: kind.build(config, spec))
    weights = sum(weight.numel() for weight in built.parameters())
    width, layers = config.width, config.layers  # type: ignore[attr-defined]
    blocks = [part for name, part in built.named_parameters() if name.startswith("h.")]
    in_blocks = sum(part.numel() for part in blocks if part.ndim > 1)
    tensors = tuple(part.numel() for part in built.parameters())
    multiplied = in_blocks + vocabulary * width
    return GPTSize(weights, multiplied, layers, width, vocabulary, tokens, tensors)
