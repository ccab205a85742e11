"""Masked places and marked spans of a run, and which runs have them."""

from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.predictions.marked_spans import MarkedSpans
from netwright.inspection.predictions.masked_tokens import MaskedTokens

TINY: dict[str, Any] = {"layers": 1, "heads": 1, "width": 8, "epochs": 1, "quiet": True}


def test_masked_places_of_a_pretrained_run(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the quick brown fox jumps over the lazy dog\n" * 60)
    run = nw.fit(
        "bert", str(tmp_path / "text.txt"), window=15, tokenizer="word", save=False, **TINY
    )
    view = run.views()["masked-tokens"]
    assert isinstance(view, MaskedTokens)
    targets = run.data.split(run.results["split"]).targets[0]
    tokens = run.preprocessor.tokenizer.tokens  # type: ignore[attr-defined]
    chosen = [tokens[token] for token in targets[1:].tolist() if token >= 0]
    assert [place.true.token for place in view.places] == chosen
    with pytest.raises(ConfigError, match="marked spans are for spans, this run predicts tokens"):
        nw.inspect(run, "marked-spans")


def test_spans_of_questions_are_marked_where_the_run_marks_them(tmp_path: Path) -> None:
    rows = [
        f"who {did}?,the {colour} cat {did} {where},{colour} cat"
        for colour in ("red", "old", "black", "white")
        for did in ("sat", "ran", "lay", "stood")
        for where in ("here", "there", "outside")
    ]
    (tmp_path / "questions.csv").write_text("question,context,answer\n" + "\n".join(rows) + "\n")
    run = nw.fit(
        "bert",
        "questions",
        path=str(tmp_path / "questions.csv"),
        tokenizer="word",
        min_count=1,
        save=False,
        **TINY,
    )
    view = run.views()["marked-spans"]
    assert isinstance(view, MarkedSpans)
    for context in view.contexts:
        words = [word.text for word in context.words]
        assert [word.text for word in context.words if word.is_true] == words[1:3]
        question = {"question": context.question, "context": " ".join(words)}
        said = " ".join(word.text for word in context.words if word.is_said)
        assert list(run.predict([question])) == [said]
    with pytest.raises(ConfigError, match="masked tokens are of a model that is pre-trained"):
        nw.inspect(run, "masked-tokens")
