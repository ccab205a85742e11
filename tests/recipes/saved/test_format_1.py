"""A run folder of format 1, as an early version left it, opens, is measured and is resumed.

`format_1` was left by

    netwright train mlp digits --out format_1 --set model.hidden=4 --set model.dropout=0
        --epochs 3 --batch-size 128 --set train.accumulate=2 --set train.schedule=cosine
        --set train.average=exponential --set train.average_decay=0.5 --max-steps 7
        --device cpu --no-report --quiet

which stopped in its second epoch; the numbers below are those of that version.
"""

import shutil
from pathlib import Path

import pytest

import netwright as nw
from netwright.apps.cli.main import run as run_command

WRITTEN = Path(__file__).with_name("format_1")
# Other versions of torch and of the package are told apart, and may round otherwise.
OTHERS = "torch,netwright"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(WRITTEN, tmp_path / "run"))


def test_it_opens_and_is_measured(folder: Path) -> None:
    run = nw.open_run(folder)
    metrics = run.evaluate()
    assert metrics["loss"] == pytest.approx(2.327011745952298, rel=1e-5)
    assert metrics["accuracy"] == pytest.approx(47 / 359)
    assert run.config["train"]["average_decay"] == 0.5
    assert nw.load_recipe(folder).train.schedule == "cosine"


def test_it_is_resumed_where_it_stopped_and_ends_as_it_did(folder: Path) -> None:
    words = ["train", "--resume", str(folder), "--allow", OTHERS, "--no-report", "--quiet"]
    assert run_command(words) == 0
    run = nw.open_run(folder)
    assert run.results["status"] == "done"
    assert (run.results["epochs"], run.results["steps"], run.results["best_step"]) == (3, 15, 15)
    assert run.results["metrics"]["loss"] == pytest.approx(2.318099083010533, rel=1e-5)
    sums = {name: weight.sum().item() for name, weight in run.model.state_dict().items()}
    assert sums == pytest.approx(
        {
            "hidden.0.0.weight": 1.932145118713379,
            "hidden.0.0.bias": -0.14910228550434113,
            "head.weight": -0.198092982172966,
            "head.bias": 0.6156857013702393,
        },
        rel=1e-4,
    )
    assert len(run.history) == 87
    last = run.history.rows[-1]
    assert [getattr(last, name) for name in ("epoch", "step", "samples")] == [3, 15, 3774]
