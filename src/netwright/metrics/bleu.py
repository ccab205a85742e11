r"""BLEU: how many runs of one to four words a translation shares with its reference.

    BLEU = 100 b exp(1/4 sum_{n=1}^4 log p_n),    b = min(1, e^(1 - r/c))

p_n: the share of n-word runs of all translations that are in their references; c and r: words of
translations and of references. How texts are cut into words moves it by points, so it is
sacrebleu's, and its signature says how.

Source: Papineni, Roukos, Ward and Zhu, "BLEU: a Method for Automatic Evaluation of Machine
Translation" (2002); Post, "A Call for Clarity in Reporting BLEU Scores" (2018).
"""

from collections.abc import Sequence
from typing import NamedTuple

from netwright.core.errors import ConfigError, DataError


class Bleu(NamedTuple):
    """One BLEU.

    Args:
        score: 0 to 100.
        signature: of sacrebleu; scores are comparable where it is equal.
    """

    score: float
    signature: str


def corpus_bleu(said: Sequence[str], references: Sequence[str], *, lower: bool = False) -> Bleu:
    """The BLEU of translations, one reference each.

    Args:
        said: the translations.
        references: what they should have been, in the same order.
        lower: compare without case, which the signature tells.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigError("BLEU needs sacrebleu: pip install 'netwright[text]'") from None
    if len(said) != len(references) or not said:
        raise DataError(
            f"BLEU needs a reference for each translation, got {len(said)} translations and "
            f"{len(references)} references"
        )
    metric = BLEU(lowercase=lower, force=True)  # no remark on texts that end in " ."
    score = metric.corpus_score(list(said), [list(references)])
    return Bleu(float(score.score), str(metric.get_signature()))
