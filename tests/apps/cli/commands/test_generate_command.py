"""`netwright generate`: text as it comes, several texts, JSON, standard input, refusals."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.decoding.sampling import DecodingConfig
from tests.apps.cli.conftest import Type

TEXT = "the quick\n" * 40  # after a letter there is always the same one


@pytest.fixture(scope="module")
def text_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    (folder / "quick.txt").write_text(TEXT, encoding="utf-8")
    data = nw.data.load("text", path=str(folder / "quick.txt"), window=10)
    settings: Any = {"hidden": 16, "dropout": 0.0, "epochs": 10, "batch_size": 8, "lr": 0.05}
    nw.fit("gru", data, out=folder / "run", quiet=True, **settings)
    return folder / "run"


def test_the_text_goes_on_after_the_prompt(type_in: Type, text_run: Path) -> None:
    words = ("generate", text_run, "the q", "--temperature", "0", "--max-tokens", "4")
    answer = type_in(*words)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "the quick\n"
    (told,) = json.loads(type_in(*words, "--json").out)
    assert told == {"prompt": "the q", "text": "uick"}
    searched = type_in("generate", text_run, "the q", "--beams", "2", "--max-tokens", "4")
    assert searched.out == answer.out


def test_both_doors_draw_alike(type_in: Type, text_run: Path) -> None:
    (told,) = json.loads(type_in("generate", text_run, "t", "--max-tokens", 60, "--json").out)
    assert told["text"] == nw.open_run(text_run).generate("t", max_tokens=60)
    assert f"({DecodingConfig().temperature})" in type_in("generate", "--help").out


def test_several_texts_have_the_seeds_that_follow(type_in: Type, text_run: Path) -> None:
    words = ("generate", text_run, "t", "--temperature", "3", "--max-tokens", "15", "--json")
    texts = json.loads(type_in(*words, "--count", "3", "--seed", "4").out)
    assert len({told["text"] for told in texts}) == 3
    assert texts[1:2] == json.loads(type_in(*words, "--seed", "5").out)
    shown = type_in(*words[:-1], "--count", "2").out
    assert len(shown.split("\n---\n")) == 2


def test_the_prompt_may_come_from_standard_input(
    type_in: Type, text_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"the q\n")))
    words = ("generate", text_run, "-", "--temperature", "0", "--max-tokens", "4")
    assert type_in(*words).out == "the quick\n"
    alone = type_in("generate", text_run, "--temperature", "0", "--max-tokens", "9")
    assert alone.out == "the quick\n"


def test_letters_that_were_never_seen_are_told(type_in: Type, text_run: Path) -> None:
    answer = type_in("generate", text_run, "the! ", "--max-tokens", "1")
    assert answer.code == 0
    assert answer.err == "note: of the prompt, 20 % of the tokens are unknown\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--count", "0"], "--count must be at least 1, got 0"),
        (
            ["--count", "2", "--beams", "3"],
            "--count must be 1 with --beams, which returns one text, got 2",
        ),
        (["--temperature", "-1"], "temperature must be at least 0.0, got -1.0"),
        (["--top-k", "0"], "top_k must be greater than 0, got 0"),
        (["--top-p", "2"], "top_p must be at most 1.0, got 2.0"),
        (["--max-tokens", "0"], "max_tokens must be greater than 0, got 0"),
        (["--beams", "0"], "--beams must be at least 1, got 0"),
        *(
            (
                ["--beams", "2", option, "1"],
                f"{option} cannot be combined with --beams, which does not sample",
            )
            for option in ("--temperature", "--top-k", "--top-p", "--seed")
        ),
    ],
)
def test_settings_without_a_meaning_are_refused(
    type_in: Type, text_run: Path, words: list[str], sentence: str
) -> None:
    answer = type_in("generate", text_run, "the", *words)
    assert (answer.code, answer.out, answer.err) == (2, "", f"error: {sentence}\n")


def test_a_run_of_something_else_is_refused(type_in: Type, things_run: Path) -> None:
    answer = type_in("generate", things_run, "the")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "error: generation needs a language model, this run takes features and predicts class\n"
    )
