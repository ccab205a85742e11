"""How text for pre-training is encoded: its tokenizer, the length of an example and [MASK].

Shapes: N examples, F tokens of each.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.data.text.encoder import TextEncoder


@dataclass(frozen=True, kw_only=True)
class MaskedEncoder(TextEncoder):
    """Encodes pairs of segments with masked tokens.

    [MASK] is the token behind the vocabulary: inputs may be it, targets never are.
    """

    form: ClassVar[str] = "masked"

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit."""
        return DataSpec(
            inputs="masked",
            input_shape=(self.length,),
            target="tokens",
            num_outputs=self.tokenizer.size,
            vocab_size=self.tokenizer.size + 1,
        )

    def read(self, source: Any) -> Any:
        """A pre-trained model answers no questions yet."""
        raise ConfigError(
            "a run of pre-training has nothing to predict: fine-tune it with "
            "`netwright train bert DATA --from RUN`"
        )

    def encode(self, source: Any) -> Tensor:
        """See `read`."""
        encoded: Tensor = self.read(source)
        return encoded

    def encode_targets(self, source: Any) -> Tensor:
        """See `read`."""
        return self.encode(source)

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """Tokens (N, F) as text; what is covered is [MASK]."""
        mask = self.tokenizer.size
        return [{"text": " [MASK] ".join(self._pieces(row, mask))} for row in inputs.tolist()]

    def _pieces(self, row: list[int], mask: int) -> list[str]:
        """The text between the masks."""
        pieces: list[list[int]] = [[]]
        for token in row:
            if token == mask:
                pieces.append([])
            else:
                pieces[-1].append(token)
        return [self.tokenizer.decode(piece).strip() for piece in pieces]
