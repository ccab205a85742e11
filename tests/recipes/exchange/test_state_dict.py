"""Weights alone: torch code of one's own loads them by their names."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn

import netwright as nw


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
