"""Spans: the loss by its formula, the best span by exhaustive search, and a model that learns."""

from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.data.spec import IGNORED
from netwright.train.tasks.catalog import task_for, task_from_json
from netwright.train.tasks.spans import LONGEST, Spans, best_spans
from tests.data.text.spans.written import write_questions

TARGETS = torch.tensor(
    [[[2, 6], [3, 4], [3, 3]], [[1, 5], [IGNORED, IGNORED], [2, 2]], [[4, 7], [7, 7], [4, 7]]]
)


def logits(length: int = 8, seed: int = 0) -> torch.Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(3, length, 2, generator=numbers, dtype=torch.float64)


def batch(weights: torch.Tensor | None = None) -> Batch:
    return Batch(torch.zeros(3, 8), TARGETS, weights, torch.arange(3))


def test_the_loss_is_over_the_places_of_the_context_and_rows_with_an_answer() -> None:
    given, wanted = logits(), []
    for row, (first, last) in ((0, (3, 4)), (2, (7, 7))):
        begin, end = TARGETS[row, 0].tolist()
        inside = given[row, begin : end + 1].log_softmax(dim=0)
        wanted.append(-(inside[first - begin, 0] + inside[last - begin, 1]) / 2)
    assert float(Spans().loss(given, batch())) == pytest.approx(float(sum(wanted)) / 2)
    weights = torch.tensor([2.0, 5.0, 0.0])
    assert float(Spans().loss(given, batch(weights))) == pytest.approx(float(wanted[0]))
    assert Spans().counted_each(TARGETS).tolist() == [1, 0, 1]
    assert int(Spans().counted(TARGETS)) == 2


def test_the_best_span_is_that_of_an_exhaustive_search() -> None:
    for seed in range(20):
        given = logits(seed=seed)
        for row, (first, last) in enumerate(best_spans(given, TARGETS[:, 0]).tolist()):
            begin, end = TARGETS[row, 0].tolist()
            score, span = max(
                (float(given[row, s, 0] + given[row, e, 1]), (s, e))
                for s in range(begin, end + 1)
                for e in range(s, end + 1)
            )
            assert (first, last) == span
            assert score == pytest.approx(float(given[row, first, 0] + given[row, last, 1]))
    far = torch.zeros(1, 2 * LONGEST, 2)
    far[0, 3, 0] = far[0, 3 + LONGEST, 1] = 9.0  # one too many
    (span,) = best_spans(far, torch.tensor([[0, 2 * LONGEST - 1]])).tolist()
    assert span[1] - span[0] < LONGEST


def test_the_trivial_span_is_the_best_fixed_one() -> None:
    targets = torch.tensor([[[5, 20], [6, 7]], [[9, 20], [10, 11]], [[3, 20], [9, 9]]])
    guess = Spans().baseline(Split(inputs=torch.zeros(3, 21), targets=targets))
    assert guess.tolist() == [1, 2]
    measured = Spans().measure(Spans().guessed(guess, targets), targets)
    assert measured == {"exact_match": pytest.approx(2 / 3), "span_f1": pytest.approx(2 / 3)}
    short = torch.tensor([[[5, 5], [5, 5]]])  # a context that ends before
    assert Spans().guessed(torch.tensor([4, 3]), short).tolist() == [[1, 1]]


def test_it_comes_back_from_json_and_has_one_loss(tmp_path: Path) -> None:
    assert isinstance(task_from_json(Spans().to_json()), Spans)
    data = nw.data.load("questions", path=str(write_questions(tmp_path)), tokenizer="word")
    assert isinstance(task_for(data), Spans)
    with pytest.raises(ConfigError, match="spans are trained by cross-entropy, the loss is 'foc"):
        nw.fit("bert", data, loss="focal", epochs=1, save=False, quiet=True)


def fitted(folder: Path, texts: int = 200, **settings: Any) -> nw.Run:
    small = {"layers": 2, "heads": 2, "width": 32, "dropout": 0.0, "quiet": True}
    data = {"path": str(write_questions(folder, texts)), "tokenizer": "word"}
    return nw.fit("bert", "questions", out=folder / "run", **{**small, **data, **settings})


def test_a_run_answers_in_texts_and_is_measured_beside_the_trivial_span(tmp_path: Path) -> None:
    run = fitted(tmp_path, epochs=1)
    assert {"exact_match", "span_f1"} <= run.evaluate().keys()
    assert {"exact_match", "span_f1"} <= run.baseline().keys()
    asked = {"question": "Where did Ada go?", "context": "Ada went to Oslo and Bob to Rome."}
    again = nw.open_run(tmp_path / "run")
    (said,) = again.predict([asked])
    assert said in asked["context"]
    assert nw.open_run(tmp_path / "run").evaluate() == run.evaluate()


@pytest.mark.slow
@pytest.mark.covers("bert-finetune-qa")
def test_a_small_bert_learns_to_point_at_answers(tmp_path: Path) -> None:
    run = fitted(tmp_path, texts=800, heads=4, epochs=6, lr=2e-3, batch_size=32)
    measured, guessed = run.evaluate(), run.baseline()
    assert measured["exact_match"] >= 0.95
    assert measured["span_f1"] >= measured["exact_match"]
    assert measured["exact_match"] >= guessed["exact_match"] + 0.2
