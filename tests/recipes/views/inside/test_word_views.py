"""The views of word vectors in a run: in its report, and refused elsewhere."""

from pathlib import Path

import pytest

import netwright as nw
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.subject import Subject

OF_WORDS = ("similar-words", "words-by-epoch", "word-map", "vector-dimensions")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> nw.Run:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    (tmp_path / "a.txt").write_text("the cat sat on a mat and the dog sat on a log " * 30)
    nw.fit(
        "word2vec", str(tmp_path / "a.txt"), dim=4, epochs=3, version="plain",
        out=tmp_path / "run", quiet=True,
    )  # fmt: skip
    return nw.open_run(tmp_path / "run")


@pytest.mark.slow
def test_a_run_of_word2vec_has_them_and_its_report_shows_them(run: nw.Run) -> None:
    subject = Subject(run, *run.data_at_hand())
    for name in OF_WORDS:
        entry = VIEWS.load(name)
        seen = entry.show(subject, {})
        assert entry.section == "inside"
        assert seen.text()
        assert seen.title in run.report().read_text(encoding="utf-8")
    table = VIEWS.load("words-by-epoch").show(subject, {})
    assert [row[""] for row in table.table_rows()] == ["epoch 1", "epoch 2", "epoch 3"]
    words = set("the cat sat on a mat and dog log".split())
    similar = VIEWS.load("similar-words").show(subject, {}).table_rows()
    assert {row["word"] for row in similar} <= words


def test_other_models_have_none(moons_run: nw.Run) -> None:
    subject = Subject(moons_run, *moons_run.data_at_hand())
    for name in OF_WORDS:
        assert "mlp has none to show" in VIEWS.load(name).refusal(subject)
