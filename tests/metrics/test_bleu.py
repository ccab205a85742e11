"""BLEU by hand, its signature, and what it refuses."""

import math
import sys

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.metrics.bleu import corpus_bleu

pytest.importorskip("sacrebleu")
SAID = ["the cat sat on the mat", "a dog runs in the park"]
TRUE = ["the cat sat on a mat", "a dog runs in the green park"]


def test_the_formula_by_hand() -> None:
    # Runs of 1 to 4 words that are in the references: 5 + 6, 3 + 4, 2 + 3 and 1 + 2.
    shares = (11 / 12, 7 / 10, 5 / 8, 3 / 6)
    brevity = math.exp(1 - 13 / 12)
    wanted = 100 * brevity * math.exp(sum(map(math.log, shares)) / 4)
    found = corpus_bleu(SAID, TRUE)
    assert found.score == pytest.approx(wanted)
    assert found.signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_case_counts_unless_it_is_left_out_and_that_is_told() -> None:
    loud = [text.upper() for text in SAID]
    assert corpus_bleu(TRUE, TRUE).score == pytest.approx(100)
    assert corpus_bleu(loud, SAID).score < 1
    without = corpus_bleu(loud, SAID, lower=True)
    assert without.score == pytest.approx(100)
    assert "|case:lc|" in without.signature


def test_texts_that_look_cut_already_are_no_reason_to_talk(
    capfd: pytest.CaptureFixture[str],
) -> None:
    texts = ["a cat sat here ."] * 200  # sacrebleu warns from 100 on
    assert corpus_bleu(texts, texts).score == pytest.approx(100)
    assert capfd.readouterr().err == ""


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="got 2 translations and 1 references"):
        corpus_bleu(SAID, TRUE[:1])
    with pytest.raises(DataError, match="got 0 translations and 0 references"):
        corpus_bleu([], [])
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(ConfigError, match=r"^BLEU needs sacrebleu: pip install 'netwright"):
        corpus_bleu(SAID, TRUE)
