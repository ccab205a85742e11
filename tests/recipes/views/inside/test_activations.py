"""The activations of a run."""

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.views.inside.activations import ACTIVATIONS
from netwright.recipes.views.subject import Subject
from tests.inspection.untouched import untouched


def test_the_layers_of_a_run_are_seen_on_its_test_rows(moons_run: nw.Run) -> None:
    subject = Subject(moons_run, *moons_run.data_at_hand())
    with untouched(moons_run.model):
        view = ACTIVATIONS.show(subject, {"examples": 8})
    rows = view.to_json()
    assert rows["examples"] == 8
    assert [(layer["path"], layer["activation"]) for layer in rows["layers"]] == [
        ("hidden.0.0", "relu"),
        ("head", ""),
    ]


def test_padding_is_that_of_the_run_s_data(tmp_path_factory: pytest.TempPathFactory) -> None:
    out = tmp_path_factory.mktemp("runs") / "parity"
    run = nw.fit("gru", "parity", n=60, hidden=4, embedding=3, epochs=1, out=out, quiet=True)
    view = ACTIVATIONS.show(Subject(run, *run.data_at_hand()), {})
    first = view.to_json()["layers"][0]
    assert first["path"] == "embedding"
    assert first["zeros"] == 0  # the vector of padding is 0 and does not count


def test_no_examples_are_refused(moons_run: nw.Run) -> None:
    with pytest.raises(ConfigError, match="examples must be greater than 0"):
        ACTIVATIONS.show(Subject(moons_run, None), {"examples": 0})
