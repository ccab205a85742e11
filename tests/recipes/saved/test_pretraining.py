"""Pre-training and fine-tuning: which weights go on, whose tokens are read, what it is worth."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pretraining.run_tokenizer import read_run_tokenizer
from netwright.data.text.row_encoder import RowEncoder
from netwright.recipes.saved.start_from import take_weights

TAB = "\t_"
TOPICS, WORDS = 12, 8  # of each; a document has one topic
SMALL: dict[str, Any] = {"layers": 2, "heads": 2, "width": 32, "context": 32, "device": "cpu"}
TINY: dict[str, Any] = {"layers": 1, "heads": 2, "width": 8, "context": 32, "device": "cpu"}


def words(topic: int, count: int, numbers: random.Random) -> str:
    return " ".join(f"w{WORDS * topic + numbers.randrange(WORDS)}" for _ in range(count))


def corpus(folder: Path, documents: int) -> Path:
    numbers = random.Random(0)
    file = folder / "corpus.txt"
    file.write_text("\n\n".join(words(n % TOPICS, 60, numbers) for n in range(documents)))
    return file


def rows(folder: Path, count: int, test: int) -> Path:
    """Texts of one topic each: is it one of the first half of them?"""
    numbers = random.Random(1)
    lines = ["text\tlabel\tsplit"]
    for row in range(count + test):
        topic = numbers.randrange(TOPICS)
        label, split = "ab"[topic < TOPICS // 2], "train" if row < count else "test"
        lines.append(f"{words(topic, 3, numbers)}\t{label}\t{split}")
    file = folder / "rows.tsv"
    file.write_text("\n".join(lines) + "\n")
    return file


def pretrained(folder: Path, documents: int, size: dict[str, Any], epochs: int) -> nw.Run:
    data: dict[str, Any] = {"data.name": "masked-text", "data.tokenizer": "word"}
    return nw.fit(
        "bert",
        corpus(folder, documents),
        **data,
        **size,
        window=23,
        epochs=epochs,
        batch_size=32,
        lr=2e-3,
        dropout=0.0,
        out=folder / "pretrained",
        quiet=True,
    )


def tuned(folder: Path, size: dict[str, Any], **settings: Any) -> nw.Run:
    return nw.fit(
        "bert",
        folder / "rows.tsv",
        text="text",
        target="label",
        vocabulary=str(folder / "pretrained"),
        dropout=0.0,
        **size,
        **settings,
        quiet=True,
    )


def test_all_but_the_heads_goes_on_and_the_tokens_are_those_of_the_run(tmp_path: Path) -> None:
    before = pretrained(tmp_path, 40, TINY, epochs=1)
    rows(tmp_path, 20, 4)
    run = tuned(tmp_path, TINY, epochs=1, lr=1e-12, start_from=before, out=tmp_path / "tuned")
    old, new = before.model.state_dict(), run.model.state_dict()
    assert {name.partition(".")[0] for name in old.keys() ^ new.keys()} == {"pretraining", "head"}
    for name in old.keys() & new.keys():
        torch.testing.assert_close(new[name], old[name], rtol=0, atol=1e-9)
    told = take_weights(run.model, tmp_path / "pretrained", run.spec.class_names)
    assert told == ("new: head; not taken: pretraining",)
    given: dict[str, Any] = {"text": "text", "target": "label", "epochs": 1, "quiet": True, **TINY}
    table = tmp_path / "rows.tsv"
    unasked = nw.fit("bert", table, start_from=before, out=tmp_path / "unasked", **given)
    assert isinstance(unasked.preprocessor, RowEncoder)
    assert unasked.preprocessor.tokenizer == read_run_tokenizer(tmp_path / "pretrained")
    other = nw.fit("bert", table, tokenizer="char", out=tmp_path / "letters", **given)
    with pytest.raises(ConfigError, match=r"--set data.vocabulary=.*pretrained$"):
        nw.fit("bert", table, start_from=before, vocabulary=str(other.folder), **given)
    with pytest.raises(ConfigError, match=r"^a run of pre-training has nothing to predict"):
        before.predict(["w1 w2"])
    assert run.predict(["w1 w2"]).shape == (1,)


def test_tags_and_spans_start_from_a_run_with_its_tokens_and_a_new_head(tmp_path: Path) -> None:
    before = pretrained(tmp_path, 40, TINY, epochs=1)
    words = "\n".join(f"{n}\tw{n}\t_\t{'AB'[n % 2]}{TAB * 6}" for n in (1, 2, 3))
    (tmp_path / "tags.conllu").write_text(f"{words}\n\n" * 12)
    asked = "".join(f"w1\tw{n} w2 w3\tw2\n" for n in range(12))
    (tmp_path / "asked.tsv").write_text(f"question\tcontext\tanswer\n{asked}")
    for file, name in (("tags.conllu", "tagged"), ("asked.tsv", "questions")):
        given: dict[str, Any] = {"data.name": name, "epochs": 1, "lr": 1e-12, "quiet": True}
        given |= {"device" if key == "device" else f"model.{key}": TINY[key] for key in TINY}
        data, out = tmp_path / file, tmp_path / name
        run = nw.fit("bert", data, start_from=before, out=out, **given)
        assert isinstance(run.preprocessor, TextEncoder)
        assert run.preprocessor.tokenizer == read_run_tokenizer(tmp_path / "pretrained")
        old, new = before.model.state_dict(), run.model.state_dict()
        assert {one.partition(".")[0] for one in new.keys() - old.keys()} == {"head"}
        for one in old.keys() & new.keys():
            torch.testing.assert_close(new[one], old[one], rtol=0, atol=1e-9)
    assert nw.open_run(tmp_path / "tagged").predict(["w1 w2 never"])[0][0] in {"A", "B"}


class Repeats(nn.Module):
    """Says of every place the token that it reads there, so of a covered one nothing right."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.outputs = outputs

    def forward(self, tokens: Tensor) -> Tensor:
        seen = functional.one_hot(tokens, self.outputs + 1)[..., : self.outputs]
        return 9 * self.scale * seen


def test_while_training_tokens_are_measured_where_this_epoch_covers_them(tmp_path: Path) -> None:
    given: dict[str, Any] = {"tokenizer": "word", "window": 23, "min_count": 1}
    data = nw.data.load("masked-text", path=str(corpus(tmp_path, 60)), **given)
    model = Repeats(data.spec.num_outputs)
    run = nw.fit(model, data, epochs=1, lr=1e-9, save=False, quiet=True)
    # One in ten of the chosen tokens is left as it is; places of another epoch would be legible.
    assert run.history.series("train/accuracy")[-1] < 0.25


def test_a_t5_that_said_spans_goes_on_with_pairs(tmp_path: Path) -> None:
    size: dict[str, Any] = {"layers": 1, "heads": 2, "width": 8, "device": "cpu", "quiet": True}
    before = nw.fit(
        "t5",
        corpus(tmp_path, 40),
        tokenizer="word",
        window=20,
        epochs=1,
        out=tmp_path / "spans",
        **size,
    )
    pairs = ["source\ttarget", *(f"w{n} w{n + 1}\tw{n}" for n in range(20))]
    (tmp_path / "pairs.tsv").write_text("\n".join(pairs))
    given: dict[str, Any] = {"source": "source", "epochs": 1, "lr": 1e-12, **size}
    run = nw.fit("t5", tmp_path / "pairs.tsv", start_from=before, out=tmp_path / "pairs", **given)
    assert run.spec.sentinels == 0 < before.spec.sentinels
    assert run.spec.vocab_size == before.spec.vocab_size
    old, new = before.model.state_dict(), run.model.state_dict()
    assert old.keys() == new.keys()
    for name in old:
        torch.testing.assert_close(new[name], old[name], rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.covers("bert", "next-sentence-prediction", "pretrain-finetune")
def test_masked_words_are_guessed_as_well_as_can_be_and_labels_are_saved(tmp_path: Path) -> None:
    before = pretrained(tmp_path, 600, SMALL, epochs=25)
    found, trivial = before.results["metrics"], before.results["baseline"]
    assert found["accuracy"] > 3 * trivial["accuracy"]
    assert found["perplexity"] < 1.15 * WORDS  # who knows the topic has so many to choose from
    assert found["next_accuracy"] > 0.9
    accuracies = {}
    for count in (24, 48):
        rows(tmp_path, count, 200)
        for name, start in (("tuned", before), ("scratch", None)):
            given: dict[str, Any] = {} if start is None else {"start_from": start}
            out = tmp_path / f"{name}-{count}"
            run = tuned(
                tmp_path, SMALL, epochs=40, batch_size=8, lr=1e-3, val_size=0.0, out=out, **given
            )
            accuracies[name, count] = run.results["metrics"]["accuracy"]
    assert accuracies["tuned", 48] > accuracies["scratch", 48]
    assert accuracies["tuned", 24] >= accuracies["scratch", 48]  # with half of the labels
