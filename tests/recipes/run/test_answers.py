"""Predictions in the words of the data: tags of whole sentences, texts, labels, and refusals."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

import netwright as nw
from netwright.apps.cli.main import run as command
from netwright.core.errors import ConfigError, DataError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Split
from netwright.data.series.table import SeriesConfig
from netwright.data.series.table import from_frame as series_from_frame
from netwright.data.spec import IGNORED, DataSpec, InputKind, TargetKind
from netwright.data.tables.frames import rows_table
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tag_encoder import TagEncoder
from netwright.data.text.tokenizer import EOS
from netwright.data.text.word_tokenizer import WordTokenizer
from netwright.recipes.plan.sources import load_source
from netwright.recipes.run.answers import (
    check_asked,
    check_is_file,
    check_paired,
    class_labels,
    examples_word,
    in_words,
    like,
)
from tests.repetition import for_each

WORDS = WordTokenizer.fit(["a b c d e"])
TAGGER = TagEncoder(tokenizer=WORDS, length=2, tags=("X", "Y", "Z"))


def spec_of(target: TargetKind, outputs: int = 2, inputs: InputKind = "features") -> DataSpec:
    return DataSpec(inputs=inputs, input_shape=(2,), target=target, num_outputs=outputs)


def certain(tags: list[list[int]]) -> Tensor:
    """Probabilities that are 1 for these tags (N, T, 3)."""
    return F.one_hot(torch.tensor(tags), 3).float()


def test_a_long_sentence_has_its_tags_put_together_and_padding_none() -> None:
    sentences = ["a b c", "", "d", ["e", "a", "b", "c"]]
    assert len(TAGGER.encode(sentences)) == 6
    said = certain([[0, 1], [2, 0], [1, 1], [2, 2], [0, 1], [1, 0]])
    assert in_words(said, sentences, TAGGER.spec, TAGGER) == [
        ["X", "Y", "Z"],
        [],
        ["Z"],
        ["X", "Y", "Y", "X"],
    ]


def test_pairs_are_completed_with_what_is_said_freely() -> None:
    letters = CharTokenizer.fit(["ab"])
    encoder = PairEncoder(source=letters, target=letters, source_length=2, target_length=3)
    a, b = letters.encode("ab")
    values = torch.tensor([[[a, a, a], [b, EOS, a]], [[a, a, a], [a, b, b]]])
    assert in_words(values, ["a", "b"], encoder.spec, encoder).tolist() == ["b", "abb"]
    frame = pd.DataFrame({"source": ["a", "b"]}, index=[7, 9])
    written = in_words(values, frame, encoder.spec, encoder)
    assert (written.name, written.to_dict()) == ("target", {7: "b", 9: "abb"})


def test_whole_number_classes_come_back_as_numbers() -> None:
    assert class_labels(["0", "1", "10"]).tolist() == [0, 1, 10]
    assert class_labels(["0", "01"]).tolist() == ["0", "01"]
    assert class_labels(["-1", "1"]).tolist() == [-1, 1]
    assert class_labels(["False", "True"]).tolist() == [False, True]


@for_each(
    "names", [["--5", "5"], ["-0", "1"], ["+1", "2"], ["9" * 5000, "1"], ["\u0663", "1"], ["", "1"]]
)
def test_what_only_looks_like_a_number_stays_text(names: list[str]) -> None:
    assert class_labels(names).tolist() == names


LABELS: dict[str, tuple[Any, Any]] = {
    "digits as text": ("0", "1"),
    "truths as text": ("False", "True"),
    "text": ("--5", "b"),
    "whole numbers": (-3, 12),
    "truths": (False, True),
    "whole floats": (0.0, 1.0),
}


def two_classes(labels: tuple[Any, Any]) -> pd.DataFrame:
    return pd.DataFrame({"x": np.linspace(0, 1, 40), "y": [labels[row >= 20] for row in range(40)]})


def same(answers: Any, wanted: list[Any]) -> bool:
    found = answers.tolist()
    return found == wanted and list(map(type, found)) == list(map(type, wanted))


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_classes_come_back_as_they_were_from_arrays_frames_and_estimators(
    labels: tuple[Any, Any], tmp_path: Path
) -> None:
    frame = two_classes(labels)
    x, ends = frame[["x"]], frame[["x"]].iloc[[0, -1]]
    arrays = nw.fit(
        "lda", (x.to_numpy(), frame["y"].to_numpy()), kind="class", out=tmp_path / "arrays"
    )
    framed = nw.fit("lda", frame, target="y", target_kind="class", out=tmp_path / "frame")
    estimator = nw.NetClassifier("lda", run_folder=tmp_path / "estimator")
    estimator.fit(x.to_numpy(), frame["y"].to_numpy())
    assert same(estimator.predict(ends.to_numpy()), list(labels))
    assert same(arrays.predict(ends.to_numpy()), list(labels))
    assert same(framed.predict(ends), list(labels))
    for folder in ("arrays", "frame", "estimator"):
        assert same(nw.open_run(tmp_path / folder).predict(ends), list(labels))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (("0", "1"), [0, 1]),
        (("False", "True"), [False, True]),
        (("--5", "5"), ["--5", "5"]),
        (("01", "2"), ["01", "2"]),
        (("FALSE", "TRUE"), ["FALSE", "TRUE"]),
        (("1.0", "2.0"), ["1.0", "2.0"]),
    ],
)
def test_a_csv_has_no_types_and_keeps_its_writing(
    written: tuple[str, str], read: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two_classes(written).to_csv(tmp_path / "rows.csv", index=False)
    run = nw.fit(
        "lda", tmp_path / "rows.csv", target="y", target_kind="class", out=tmp_path / "run"
    )
    rows = [{"x": 0.0}, {"x": 1.0}]
    assert same(run.predict(rows), read)
    capsys.readouterr()
    assert command(["predict", str(tmp_path / "run"), "--row", "x=0"]) == 0
    assert written[0] in capsys.readouterr().out


def test_rows_of_values_a_text_table_and_a_series_know_their_types_too() -> None:
    frame = two_classes(("0", "1")).assign(words=["good film"] * 20 + ["bad film"] * 20)
    texts = load_source(frame[["words", "y"]], {"text": "words", "target": ("y",)})[2]
    assert texts.spec.class_type == "text"
    later = frame["y"].iloc[::-1].tolist()
    series = series_from_frame(frame[["x"]].assign(y=later), SeriesConfig(target=("y",), window=2))
    assert series.spec.class_type == "text"
    assert rows_table([{"a": 1, "b": True}, {"a": 2, "b": None}]).types == {"a": "int", "b": "bool"}


def test_a_run_of_before_reads_its_names() -> None:
    spec = replace(spec_of("class"), class_names=("0", "1")).to_json()
    del spec["class_type"]
    encoder = ArrayEncoder(input_shape=(2,), target="class", num_outputs=2)
    labels = in_words(torch.eye(2), [], DataSpec.from_json(spec), encoder)
    assert labels.tolist() == [0, 1]


@pytest.mark.parametrize("kind", ["class", "labels"])
def test_at_even_odds_answers_and_metrics_agree(kind: str, tmp_path: Path) -> None:
    x = np.linspace(-1, 1, 20, dtype=np.float32)[:, None]
    yes = (np.arange(20) % 4 == 0).astype(np.int64)
    y = yes if kind == "class" else np.stack((yes, 1 - yes), axis=1)
    run = nw.fit("mlp", (x, y), kind=kind, epochs=1, out=tmp_path / "run", val_size=0)
    estimator = nw.NetClassifier("mlp", epochs=1).fit(x, y)
    with torch.no_grad():  # all logits are 0
        for weight in (*run.model.parameters(), *estimator.model_.parameters()):
            weight.zero_()
    assert bool((run.predict_proba(x) == 0.5).all())
    said = run.predict(x)
    assert not said.any()  # the first class; no label
    assert np.array_equal(said, run.predict(x, threshold=0.5))
    assert np.array_equal(said, estimator.predict(x))
    assert run.evaluate((x, y))["accuracy"] == pytest.approx(float((said == y).mean()))


def test_fewer_answers_than_rows_are_those_of_the_last_rows() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3]}, index=["a", "b", "c"])
    assert like(frame, np.array([5.0, 6.0]), ["y"]).to_dict() == {"b": 5.0, "c": 6.0}
    assert like([[1]], np.array([5.0]), ["y"]).tolist() == [5.0]


@pytest.mark.parametrize(
    ("spec", "predicted"),
    [
        (spec_of("real"), "reals"),
        (spec_of("tags"), "tags"),
        (spec_of("tokens", inputs="pairs"), "texts"),
    ],
    ids=["real", "tags", "pairs"],
)
def test_probabilities_and_thresholds_are_for_classes(spec: DataSpec, predicted: str) -> None:
    check_asked(spec)
    ends = f"for classes and labels, this run predicts {predicted}"
    with pytest.raises(ConfigError, match=f"^probabilities are {ends}$"):
        check_asked(spec, proba=True)
    with pytest.raises(ConfigError, match=f"^threshold is {ends}$"):
        check_asked(spec, threshold=0.5)


def test_masks_have_probabilities_and_no_threshold() -> None:
    check_asked(spec_of("mask"), proba=True)
    with pytest.raises(ConfigError, match=r"this run predicts masks$"):
        check_asked(spec_of("mask"), threshold=0.5)


def test_a_threshold_divides_two_classes() -> None:
    check_asked(spec_of("class"), threshold=1, proba=True)
    check_asked(spec_of("labels", 3), threshold=0)
    with pytest.raises(ConfigError, match=r"^threshold is for 2 classes, this run has 3$"):
        check_asked(spec_of("class", 3), threshold=0.5)
    with pytest.raises(ConfigError, match=re.escape("threshold must lie in [0, 1], got -1")):
        check_asked(spec_of("labels"), threshold=-1)


def test_outputs_without_names_are_told_by_number() -> None:
    encoder = ArrayEncoder(input_shape=(2,), target="class", num_outputs=2)
    values = torch.tensor([[0.1, 0.9], [0.8, 0.2]])
    assert in_words(values, np.zeros((2, 2)), spec_of("class"), encoder).tolist() == [1, 0]
    labels = in_words(values, pd.DataFrame({"x": [0, 0]}), spec_of("labels"), encoder)
    assert labels.to_dict("list") == {"0": [0, 1], "1": [1, 0]}


def test_a_language_model_is_sent_to_generate() -> None:
    with pytest.raises(
        ConfigError, match=r"no label to predict: use `netwright generate RUN PROMPT`"
    ):
        check_asked(spec_of("tokens", inputs="tokens"))


def test_a_text_is_no_path(tmp_path: Path) -> None:
    sentence = "'a great lovely film': there is no such file; pass texts as a list"
    with pytest.raises(DataError, match=f"^{sentence}$"):
        check_is_file("a great lovely film")
    check_is_file(str(tmp_path))


def test_a_corpus_is_counted_in_windows() -> None:
    assert examples_word(spec_of("tokens", inputs="tokens")) == "windows"
    assert examples_word(spec_of("class", inputs="tokens")) == "rows"
    assert examples_word(spec_of("tokens", inputs="pairs")) == "rows"


def test_inputs_and_targets_are_of_the_same_examples() -> None:
    inputs, targets = TAGGER.encode_pairs(["a b c", ""], [["X", "Y", "Z"], []])
    assert targets[2].tolist() == [IGNORED, IGNORED]
    check_paired(Split(inputs=inputs, targets=targets))
    with pytest.raises(DataError, match=r"^there are 3 inputs but 2 targets$"):
        check_paired(Split(inputs=inputs, targets=targets[:2]))


@pytest.mark.parametrize("kind", ["int", "float"])
def test_classes_that_are_not_of_their_type_are_refused(kind: Literal["int", "float"]) -> None:
    with pytest.raises(DataError, match=f"of type {kind}, but are not"):
        class_labels(["no", "yes"], kind)


def test_polars_frames_are_answered_with_series_and_frames_of_polars() -> None:
    polars = pytest.importorskip("polars")
    asked = polars.DataFrame({"x": [1, 2]})
    said = like(asked, np.array(["big", "small"], dtype=object), ["kind"])
    assert (said.name, said.to_list()) == ("kind", ["big", "small"])
    several = like(asked, np.array([[1.0, 2.0], [3.0, 4.0]]), ["u", "v"])
    assert several.to_dict(as_series=False) == {"u": [1.0, 3.0], "v": [2.0, 4.0]}
    assert like(asked, np.array([1, 2]), []).to_list() == [1, 2]
