"""The curves of a run, against what is asked for."""

from pathlib import Path
from typing import cast

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.training.curves import Curves
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training.curves import CURVES


def test_curves_are_drawn_against_what_is_asked_for(moons_run: nw.Run) -> None:
    curves = nw.inspect(moons_run, "curves", axis="step")
    assert curves == cast(Curves, moons_run.views()["curves"]).along("step")
    assert "against step." in curves.caption
    sentence = "view.axis must be 'epoch', 'step', 'samples', 'tokens' or 'time', got 'week'"
    with pytest.raises(ConfigError, match=sentence):
        nw.inspect(moons_run, "curves", axis="week")


def test_they_need_no_data(moons_run: nw.Run) -> None:
    assert CURVES.why_not(Subject(moons_run, None, "the run's data x.csv is not here")) == ""


def test_a_run_on_texts_counts_its_tokens_without_padding(tmp_path: Path) -> None:
    (tmp_path / "words.tsv").write_text("text\tliked\n" + "good film\tyes\nbad\tno\n" * 20)
    run = nw.fit(
        "gru",
        str(tmp_path / "words.tsv"),
        text="text",
        target="liked",
        min_count=1,
        hidden=4,
        epochs=2,
        save=False,
        quiet=True,
    )
    train = run.data.train.inputs
    each = int((train != 0).sum()) / len(train)
    assert 1 < each < 2
    curves = cast(Curves, run.views()["curves"])
    for curve in curves.curves:
        assert curve.tokens == pytest.approx([each * samples for samples in curve.samples])
