"""A program of torch.export takes raw rows and needs torch alone."""

from pathlib import Path

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.core.files.storage import new_folder
from netwright.recipes.exchange.export import compare
from netwright.recipes.exchange.torch_program import TorchProgram
from tests.recipes.exchange.families import source_of, spec_of


def test_raw_rows_go_in_and_probabilities_come_out(moons_run: nw.Run, tmp_path: Path) -> None:
    done = moons_run.export("torch-export", tmp_path / "out")
    assert done.files == ("model.pt2", "preprocessing.json", "export.json")
    assert done.difference < 1e-5
    program = torch.export.load(tmp_path / "out" / "model.pt2").module()
    for count in (1, 7):
        rows = torch.linspace(-1, 2, 2 * count, dtype=torch.float64).reshape(count, 2)
        wanted = torch.from_numpy(moons_run.predict_proba(rows.numpy()))
        torch.testing.assert_close(program(rows).detach(), wanted, rtol=0, atol=1e-6)


def test_a_network_of_images_is_compared_from_its_file(tmp_path: Path) -> None:
    source = source_of("cnn", spec_of("cnn", "image", "class"))
    with new_folder(tmp_path / "out") as staging:
        TorchProgram().write(source, staging)
        assert compare(source, TorchProgram().reopen(source, staging.path)) < 1e-5


def test_a_model_without_a_graph_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    run = nw.fit("kernel-regression", "moons", save=False, quiet=True)
    with pytest.raises(ConfigError, match=r"^kernel-regression cannot be exported to torch-export"):
        run.export("torch-export", tmp_path / "out")
    assert not list(tmp_path.iterdir())
