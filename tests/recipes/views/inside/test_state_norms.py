"""How recurrences remember: any model that has `one_way_recurrence` is asked, without padding."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data, Split
from netwright.data.loading.stored import sample_stored
from netwright.inspection.inside.state_norms import measure_state_norms
from netwright.layers.recurrence.recurrence import Recurrence
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import GRU as GRU_CELL
from netwright.models.sequence.gru import GRU
from netwright.recipes.views.inside import state_norms
from netwright.recipes.views.inside.state_norms import STATE_NORMS
from netwright.recipes.views.subject import Subject

TINY: dict[str, Any] = {"hidden": 4, "epochs": 1, "device": "cpu", "quiet": True}


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def reviews_run() -> nw.Run:
    """A run on short texts among long ones, so that there is padding."""
    rows = [f"{'good ' * (1 + row % 3)}film\tyes\nbad\tno" for row in range(30)]
    path = Path("reviews.tsv")
    path.write_text("words\tliked\n" + "\n".join(rows) + "\n")
    return nw.fit("gru", path, text="words", target="liked", embedding=3, **TINY)


class ReadsOn(nn.Module):
    """A model of one's own on series (B, T, 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.reader, self.head = RecurrentStack(GRU_CELL, 2, 3, 1), nn.Linear(3, 1)

    def forward(self, series: Tensor) -> Tensor:
        logits: Tensor = self.head(self.reader(series)[0][:, -1])
        return logits

    def embed(self, series: Tensor) -> Tensor:
        return series

    def one_way_recurrence(self) -> Recurrence:
        return self.reader


def test_texts_of_any_length_are_looked_at_without_their_padding(reviews_run: nw.Run) -> None:
    run, views = reviews_run, reviews_run.views()
    assert "confusion" in views
    split = run.data.split(run.results["split"])
    length = int((split.inputs[0] != 0).sum())
    assert length < split.inputs.shape[1]
    assert isinstance(run.model, GRU)
    with torch.no_grad():
        steps = run.model.embed(split.inputs[0, :length])
    own = measure_state_norms(run.model.backbone.step, steps, run.model.backbone.start(1))
    assert views["state-norms"] == own


def test_a_text_without_words_has_nothing_to_look_at(reviews_run: nw.Run) -> None:
    empty = Split(inputs=torch.zeros(1, 4, dtype=torch.int64), targets=torch.zeros(1).long())
    spec, preprocessor = reviews_run.spec, reviews_run.preprocessor
    data = Data(name="-", spec=spec, train=empty, test=empty, preprocessor=preprocessor)
    reason = STATE_NORMS.refusal(Subject(reviews_run, sample_stored(data)))
    assert reason == "the first text has no tokens to remember"


def test_a_large_state_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    run = nw.fit("lstm", "adding", n=60, length=4, **TINY)
    monkeypatch.setattr(state_norms, "MOST_STATE", 8)  # 4 outputs and 4 cells
    assert "state-norms" in run.views()
    monkeypatch.setattr(state_norms, "MOST_STATE", 7)
    assert "state-norms" not in run.views()
    with pytest.raises(ConfigError, match=r"at most 7 numbers, the state of lstm has 8$"):
        nw.inspect(run, "state-norms")


def test_a_new_recurrent_network_is_asked_for_its_recurrence() -> None:
    data = nw.data.load("adding", n=60, length=4)
    run = nw.fit(ReadsOn(), data, epochs=1, device="cpu", quiet=True)
    assert nw.inspect(run, "state-norms").to_json()["numbers"] == 3


def test_one_that_reads_both_ways_has_no_one_state(reviews_run: nw.Run) -> None:
    assert isinstance(reviews_run.model, GRU)
    reviews_run.model.bidirectional = True
    with pytest.raises(ConfigError, match=r"gru carries no such state$"):
        nw.inspect(reviews_run, "state-norms")
