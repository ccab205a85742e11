"""How text with spans left out is encoded: as pairs, of a text with sentinels and of the spans."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from netwright.core.errors import ConfigError, DataError
from netwright.data.spec import DataSpec
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.pretraining.sentinel_tokenizer import SentinelTokenizer


@dataclass(frozen=True, kw_only=True)
class CorruptedEncoder(PairEncoder):
    """Encodes texts in which sentinels stand for spans, and the spans.

    A text of one's own with sentinels in it (To be <extra_id_0> not to be) can be given to predict.
    """

    kind: ClassVar[str] = "corrupted-text"

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit."""
        sentinels = self.source.sentinels if isinstance(self.source, SentinelTokenizer) else 0
        return replace(super().spec, sentinels=sentinels)

    def read_labelled(self, source: Any) -> Any:
        """A file has no spans: they are drawn."""
        raise ConfigError(
            "a run of pre-training is measured on spans of its own data alone: give `predict` a "
            "text with sentinels, or fine-tune it with `netwright train t5 PAIRS --from RUN`"
        )

    def check_numbers(self) -> None:
        """Refuse lengths that no texts have, and a tokenizer without sentinels."""
        super().check_numbers()
        if not isinstance(self.source, SentinelTokenizer) or self.source != self.target:
            raise DataError("corrupted text is read and said by one tokenizer with sentinels")
