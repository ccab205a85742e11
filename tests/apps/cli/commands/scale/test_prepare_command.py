"""`netwright prepare`: a corpus becomes token files, which are trained on, stopped and resumed."""

from pathlib import Path

import pytest

from tests.apps.cli.conftest import Type

SMALL = ("--set", "data.window=16", "--set", "model.width=8", "--set", "model.layers=1")
TRAIN = (
    "train",
    "gpt",
    "shards",
    *SMALL,
    "--batch-size",
    8,
    "--device",
    "cpu",
    "--no-report",
    "-q",
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "corpus.txt"
    file.write_text("".join(f"line {number} of a text\n" for number in range(300)))
    return file


def weights(run: Path) -> bytes:
    return (run / "model" / "model.safetensors").read_bytes()


def test_a_corpus_is_prepared_trained_on_and_resumed_exactly(type_in: Type, corpus: Path) -> None:
    words = ("prepare", corpus, "--tokenizer", "char", "--out", "shards", "--workers", 1)
    answer = type_in(*words)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("2 token files of uint16: 5,")
    assert "vocabulary (char)" in answer.out
    assert type_in(*words).out.endswith("2 of the files were there before\n")
    schedule = ("--set", "train.schedule=constant")
    assert type_in(*TRAIN, *schedule, "--max-steps", 50, "--out", "whole").code == 0
    assert type_in(*TRAIN, *schedule, "--max-steps", 17, "--out", "cut").code == 0
    more = type_in("train", "--resume", "cut", "--set", "train.max_steps=50", "--no-report", "-q")
    assert more.code == 0, more.err
    assert weights(Path("whole")) == weights(Path("cut"))
    told = type_in("generate", "whole", "line", "--max-tokens", 5)
    assert told.code == 0, told.err


def test_what_cannot_be_prepared_is_refused(type_in: Type, corpus: Path) -> None:
    answer = type_in("prepare", corpus, "--tokenizer", "bpee", "--out", "shards")
    assert (answer.code, answer.err) == (
        2,
        "error: unknown tokenizer 'bpee'; did you mean 'bpe'?\n",
    )
    answer = type_in("prepare", "nowhere", "--tokenizer", "char", "--out", "shards")
    assert answer.code != 0 and "nowhere: there is no such file" in answer.err
    assert not Path("shards").exists()
    answer = type_in("prepare", corpus, "--tokenizer", "char", "--out", corpus.parent)
    assert "holds other files" in answer.err
