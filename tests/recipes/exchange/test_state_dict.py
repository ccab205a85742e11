"""Weights alone: torch code of one's own loads them by their names."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

import netwright as nw
from netwright.core.errors import ConfigError
from tests.doors.two_inputs import TwoInputs, two_inputs_data


def test_a_plain_module_of_the_same_shape_takes_the_weights(
    moons_run: nw.Run, tmp_path: Path
) -> None:
    done = moons_run.export("state-dict", tmp_path / "weights")
    assert done.difference == 0
    weights = load_file(done.folder / "model.safetensors")
    assert weights.keys() == moons_run.model.state_dict().keys()
    plain = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
    names = zip(plain.state_dict(), moons_run.model.state_dict(), strict=True)
    plain.load_state_dict({theirs: weights[ours] for theirs, ours in names})
    rows = torch.tensor([[0.5, 0.25], [1.5, -0.5]])
    encoded = moons_run.preprocessor.encode(rows.numpy())
    with torch.no_grad():
        wanted = torch.from_numpy(moons_run.predict_proba(rows.numpy()))
        torch.testing.assert_close(plain(encoded).softmax(1), wanted, rtol=0, atol=1e-6)


def test_the_weights_of_a_module_of_ones_own(tmp_path: Path) -> None:
    own = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    run = nw.fit(own, "moons", epochs=1, save=False, quiet=True)
    done = run.export("state-dict", tmp_path / "weights")
    assert done.difference == 0
    assert load_file(done.folder / "model.safetensors").keys() == own.state_dict().keys()


def test_a_module_of_several_inputs_has_its_weights_and_no_graph_yet(tmp_path: Path) -> None:
    run = nw.fit(TwoInputs(), two_inputs_data(), epochs=1, save=False, quiet=True)
    done = run.export("state-dict", tmp_path / "weights")
    assert done.difference == 0
    assert {*load_file(done.folder / "model.safetensors")} == {*TwoInputs().state_dict()}
    told = json.loads((done.folder / "export.json").read_text())
    assert told["inputs"]["tensors"] == [
        {"dtype": "float32", "shape": ["batch", 3]},
        {"dtype": "int64", "shape": ["batch"]},
    ]
    with pytest.raises(ConfigError, match="several inputs cannot be exported to torch-export yet"):
        run.export("torch-export", tmp_path / "graph")
