"""`netwright predict` and `evaluate` on texts, tags, pairs, symbols and language models."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from tests.apps.cli.conftest import Type

SMALL: dict[str, Any] = {"epochs": 1, "hidden": 4, "embedding": 4, "quiet": True}
SENTENCES = ("the cat sat", "the dog", "a cat ran")
TAG_OF = {"the": "DET", "a": "DET", "cat": "NOUN", "dog": "NOUN", "sat": "VERB", "ran": "VERB"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of each kind, and a run on each."""
    folder = tmp_path_factory.mktemp("texts")
    reviews = [f"a {'fine' if row % 2 else 'dull'} film\t{row % 2}" for row in range(30)]
    (folder / "reviews.tsv").write_text("\n".join(["text\tlabel", *reviews]) + "\n")
    (folder / "tagged.conllu").write_text(_conllu(SENTENCES * 4))
    (folder / "notes.txt").write_text("the cat sat on the mat. " * 20)
    (folder / "pairs.tsv").write_text("source\ttarget\nab\tba\naab\tbaa\n")
    nw.fit(
        "elman", folder / "reviews.tsv", text="text", target="label", out=folder / "rows", **SMALL
    )
    nw.fit("elman", folder / "tagged.conllu", max_length=2, out=folder / "tags", **SMALL)
    nw.fit("elman", folder / "notes.txt", window=16, out=folder / "letters", **SMALL)
    nw.fit("elman", "parity", n=60, out=folder / "parity", **SMALL)
    nw.fit("encoder-decoder", "reverse", n=60, length=4, out=folder / "reverse", **SMALL)
    return folder


def _conllu(sentences: tuple[str, ...]) -> str:
    rest = "\t".join("_" * 6)
    return "\n".join(
        "".join(f"{n}\t{w}\t_\t{TAG_OF[w]}\t{rest}\n" for n, w in enumerate(one.split(), 1))
        for one in sentences
    )


@pytest.fixture
def put_in(monkeypatch: pytest.MonkeyPatch) -> "io.BytesIO":
    """What is typed into standard input."""
    content = io.BytesIO()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(content))
    return content


def typed(content: io.BytesIO, text: bytes) -> None:
    content.seek(0)
    content.truncate()
    content.write(text)
    content.seek(0)


def test_texts_are_classified_from_a_table_lines_or_standard_input(
    type_in: Type, folder: Path, put_in: io.BytesIO
) -> None:
    texts = ["a fine film", "a dull, dull film"]
    said = "label\n" + "".join(f"{one}\n" for one in nw.open_run(folder / "rows").predict(texts))
    Path("lines.txt").write_text("\n".join(texts) + "\n")
    Path("rows.csv").write_text('id,text\n1,a fine film\n2,"a dull, dull film"\n')
    Path("table.txt").write_text(Path("rows.csv").read_text())
    for file in ("lines.txt", "rows.csv", "table.txt"):
        assert type_in("predict", folder / "rows", file).out == said
        typed(put_in, Path(file).read_bytes())
        assert type_in("predict", folder / "rows", "-").out == said
    row = json.dumps({"text": texts[0]})
    (answer,) = json.loads(
        type_in("predict", folder / "rows", "--row", row, "--json", "--proba").out
    )
    assert list(answer) == ["label", "p(0)", "p(1)"]


def test_words_are_given_with_their_tags(type_in: Type, folder: Path, put_in: io.BytesIO) -> None:
    tags = nw.open_run(folder / "tags").predict(["the cat sat", "", "dog"])
    typed(put_in, b"the cat sat\n\ndog\n")
    whole = " ".join(
        f"{word}/{tag}" for word, tag in zip(("the", "cat", "sat"), tags[0], strict=True)
    )
    assert type_in("predict", folder / "tags", "-").out == f"{whole}\n\ndog/{tags[2][0]}\n"
    answers = json.loads(
        type_in("predict", folder / "tags", folder / "tagged.conllu", "--json").out
    )
    assert [" ".join(one["words"]) for one in answers] == list(SENTENCES * 4)
    assert all(len(one["words"]) == len(one["tags"]) for one in answers)


def test_a_source_a_line_gives_a_target_a_line(
    type_in: Type, folder: Path, put_in: io.BytesIO
) -> None:
    Path("test.src").write_text("ab\nba\nbbaa\n")
    said = nw.open_run(folder / "reverse").predict(["ab", "ba", "bbaa"]).tolist()
    assert type_in("predict", folder / "reverse", "test.src").out.split("\n") == [*said, ""]
    typed(put_in, b"ab\nba\n")
    answers = json.loads(type_in("predict", folder / "reverse", "-", "--json").out)
    assert answers == [{"source": "ab", "target": said[0]}, {"source": "ba", "target": said[1]}]


def test_symbols_are_read_a_line_each(type_in: Type, folder: Path, put_in: io.BytesIO) -> None:
    typed(put_in, b"0101\n11\n")
    said = nw.open_run(folder / "parity").predict(["0101", "11"]).tolist()
    assert type_in("predict", folder / "parity", "-").out == f"y\n{said[0]}\n{said[1]}\n"


def test_what_cannot_be_predicted_is_refused_in_one_sentence(
    type_in: Type, folder: Path, put_in: io.BytesIO
) -> None:
    a_line = "--row is for tables, this run takes one text per line"
    refusals = {
        ("letters", "To be"): "a language model has no label to predict: use `netwright generate "
        "RUN PROMPT`, or run.generate, to continue a text",
        ("tags", "x.txt", "--proba"): "probabilities are for classes and labels, this run predicts "
        "tags",
        ("reverse", "x.txt", "--threshold", 0.5): "threshold is for classes and labels, this run "
        "predicts texts",
        ("tags", "--row", "a=1"): a_line,
        ("parity", "--row", "a=1"): a_line,
        ("rows", "--row", "a=1"): "input has no column 'text'; it has a",
        ("rows", "absent.txt"): "absent.txt: there is no such file",
        ("rows", "x.txt", "y.txt"): "predict takes one table, got 2 files",
    }
    for (run, *words), sentence in refusals.items():
        assert type_in("predict", folder / str(run), *words).err == f"error: {sentence}\n"
    not_text = "byte 0xff at position 2 is not UTF-8; save the file as UTF-8, or give its encoding"
    not_text += ", as in --set data.encoding=latin-1"
    for content, sentence in ((b"ab\xff", f":1: {not_text}"), (b" \n", ": the file is empty")):
        typed(put_in, content)
        answer = type_in("predict", folder / "rows", "-")
        assert (answer.code, answer.err) == (2, f"error: standard input{sentence}\n")


@pytest.mark.parametrize(
    ("run", "file"),
    [
        ("rows", "reviews.tsv"),
        ("tags", "tagged.conllu"),
        ("letters", "notes.txt"),
        ("reverse", "pairs.tsv"),
    ],
)
def test_a_run_is_measured_on_another_file(
    type_in: Type, folder: Path, run: str, file: str
) -> None:
    answer = type_in("evaluate", folder / run, "--data", folder / file, "--json")
    assert json.loads(answer.out)["metrics"] == nw.open_run(folder / run).evaluate(folder / file)


def test_what_is_unknown_in_another_text_is_said(type_in: Type, folder: Path) -> None:
    Path("other.txt").write_text("XYZ" * 20)
    answer = type_in("evaluate", folder / "letters", "--data", "other.txt")
    assert answer.err == "note: 100 % of the tokens are unknown\n"
    answer = type_in("evaluate", folder / "tags", "--data", "other.txt")
    assert answer.err == "error: other.txt:1: wanted 10 fields with tabs between them, got 1\n"


def test_a_pipe_that_the_shell_hands_over_is_read(folder: Path, type_in: Type) -> None:
    there, here = os.pipe()  # as in `netwright predict RUN <(...)`
    os.write(here, b"a fine film\na dull film\n")
    os.close(here)
    given = type_in("predict", folder / "rows", f"/dev/fd/{there}", "--json")
    os.close(there)
    assert given.code == 0
    assert len(json.loads(given.out)) == 2
