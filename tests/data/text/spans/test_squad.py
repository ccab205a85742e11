"""SQuAD: divided by article, several answers, and a file that is something else."""

import json
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.catalog import load
from netwright.data.spec import IGNORED
from netwright.data.text.spans.span_encoder import SpanEncoder

ANSWERS = [{"text": "Rome", "answer_start": 12}, {"text": "to Rome", "answer_start": 9}]


def write(folder: Path, articles: int = 8) -> None:
    data = [
        {
            "title": f"article {number}",
            "paragraphs": [
                {
                    "context": f"Ada went to Rome in {number} with Bob.",
                    "qas": [
                        {"question": f"Where in {number}?", "answers": ANSWERS[: 1 + number % 2]},
                        {
                            "question": "Who?",
                            "answers": [{"text": "Ada", "answer_start": 0}] * 3,
                        },
                    ],
                }
            ],
        }
        for number in range(articles)
    ]
    (folder / "squad").mkdir()
    (folder / "squad" / "dev-v1.1.json").write_text(json.dumps({"data": data}))


def test_it_is_divided_by_article_and_answers_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    data = load("squad", tokenizer="word", min_count=1, test_size=0.25, val_size=0.125)
    encoder = data.preprocessor
    assert isinstance(encoder, SpanEncoder)
    sizes = {name: len(split) for name, split in data.splits()}
    assert sizes == {"train": 10, "val": 2, "test": 4}
    assert data.train.targets.shape[1:] == (3, 2)  # the context, and at most two answers
    said = {
        encoder.tokenizer.decode(row[first : last + 1].tolist())
        for row, spans in zip(data.train.inputs, data.train.targets.tolist(), strict=True)
        for first, last in spans[1:]
        if first != IGNORED
    }
    assert said == {"rome", "to rome", "ada"}


def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "squad").mkdir()
    (tmp_path / "squad" / "dev-v1.1.json").write_text('{"data": [{"title": 3}]}')
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"is not SQuAD 1.1: KeyError\('paragraphs'\)"):
        load("squad")
