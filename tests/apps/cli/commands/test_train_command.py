"""`netwright train`: by names, files and settings; results beside the baseline; real tables."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file

from netwright.apps.cli.commands.train_command import train
from netwright.core.config import field_names
from netwright.train.profiling import seen_updates
from netwright.train.profiling.hardware_rates import HardwareRates
from netwright.train.setting_marks import Typed
from netwright.train.settings import TrainConfig, settings_marked
from tests.apps.cli.conftest import Type

pytestmark = pytest.mark.usefixtures("undrawn")


def test_leaves_a_run_and_tells_where(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("train", "mlp", "moons", "--epochs", 2, "--set", "model.hidden=8")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].startswith("test (")
    assert lines[1].split() == ["metric", "this", "run", "baseline"]
    assert lines[-2] == "run: runs/mlp-moons-001"
    assert lines[-1] == "report: runs/mlp-moons-001/report.html"
    assert "epoch   2/2  loss: train" in answer.err
    assert (tmp_path / "runs/mlp-moons-001/config.yaml").is_file()
    assert (tmp_path / "runs/mlp-moons-001/report.html").is_file()


def test_a_profile_is_told_and_lies_in_the_folder(
    type_in: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = HardwareRates(1e12, 1e12)
    monkeypatch.setattr(seen_updates, "hardware_rates", lambda device, kind, seen: rates)
    words = ("train", "mlp", "moons", "--epochs", 2, "--set", "model.hidden=8", "--out", "here")
    answer = type_in(*words, "--profile")
    lines = answer.out.splitlines()
    parts = [line.split()[0] for line in lines[lines.index(next(_parts_of(lines))) :]]
    assert parts[:4] == ["part", "data", "forward", "backward"]
    assert any(line.startswith("samples a second ") for line in lines)
    page = (tmp_path / "here" / "report.html").read_text(encoding="utf-8")
    assert "<h2>Speed</h2>" in page
    assert "--profile" in page  # to make it again
    assert type_in("verify", "here").code == 0
    answer = type_in("inspect", "here", "profile", "--json")
    assert json.loads(answer.out)["unit"] == "samples"


def _parts_of(lines: list[str]) -> Iterator[str]:
    return (line for line in lines if line.startswith("part "))


def test_json_is_the_results_file(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("train", "logistic", "moons", "--epochs", 1, "--json", "--out", "here")
    shown = json.loads(answer.out)
    stored = json.loads((tmp_path / "here" / "results.json").read_text())
    assert shown.pop("run") == "here"
    assert shown.pop("report") == "here/report.html"
    assert shown == stored
    assert answer.err == ""


def test_the_command_line_wins_over_files_and_later_files_over_earlier(
    type_in: Type, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(
        "model: {name: mlp, hidden: [8]}\ndata: moons\ntrain: {lr: 1e-2, epochs: 3}\n"
    )
    (tmp_path / "b.yaml").write_text("train: {epochs: 4, batch_size: 16}\nseed: 5\n")
    answer = type_in("train", "-c", "a.yaml", "-c", "b.yaml", "--batch-size", 8, "--print-config")
    recipe = yaml.safe_load(answer.out)
    assert recipe["model"]["hidden"] == [8]
    assert recipe["data"]["name"] == "moons"
    assert (recipe["train"]["lr"], recipe["train"]["epochs"]) == (0.01, 4)
    assert (recipe["train"]["batch_size"], recipe["seed"]) == (8, 5)


def test_a_runs_config_trains_the_same_run_again(type_in: Type, tmp_path: Path) -> None:
    first = type_in("train", "mlp", "xor", "--epochs", 2, "--json", "--no-report")
    again = type_in("train", "-c", "runs/mlp-xor-001/config.yaml", "--json", "--no-report")
    one, two = json.loads(first.out), json.loads(again.out)
    assert one["metrics"] == two["metrics"]
    for name in ("run", "seconds", "load_seconds"):
        one.pop(name)
        two.pop(name)
    assert one == two


def test_trains_on_a_table_and_shows_what_it_saw(type_in: Type, things_csv: Path) -> None:
    answer = type_in("train", "mlp", things_csv, "--target", "kind", "--epochs", 2, "--no-report")
    assert answer.code == 0
    assert "colour: category, 2 values" in answer.err
    assert "baseline: always 'big'" in answer.out or "baseline: always 'small'" in answer.out


def test_a_text_column_is_read_where_it_is_named(type_in: Type, tmp_path: Path) -> None:
    rows = [f"a {'good' if n % 2 else 'bad'} film\t{n % 2}" for n in range(30)]
    (tmp_path / "reviews.tsv").write_text("\n".join(["review\tlabel", *rows]), encoding="utf-8")
    columns = ("reviews.tsv", "--text", "review", "--target", "label")
    learn = ("--set", "data.inputs=bag", "--epochs", 20, "--no-report", "--out", "run")
    answer = type_in("train", "softmax", *columns, *learn)
    assert answer.code == 0
    assert "review: text, 4 word tokens known, 0 % of the training text unknown" in answer.err
    config = type_in("train", "softmax", *columns, "--print-config").out
    assert yaml.safe_load(config)["data"]["name"] == "text-table"
    answer = type_in("predict", "run", "--row", "review=a good film")
    assert answer.out == "label\n1\n"


@pytest.mark.slow
def test_default_reaches_its_auc_beside_the_baseline(
    type_in: Type, real_data: Callable[[str], Path]
) -> None:
    table = real_data("islr/Default.csv")
    words = ("--target", "default", "--epochs", 8, "--json", "--no-report")
    answer = type_in("train", "mlp", table, *words)
    results = json.loads(answer.out)
    assert results["metrics"]["roc_auc"] >= 0.94
    assert results["baseline"]["accuracy"] == pytest.approx(0.9667, abs=5e-4)
    assert results["baseline_rule"] == "always 'No', 96.67% of the training rows"


def test_hitters_needs_its_missing_targets_dropped(
    type_in: Type, real_data: Callable[[str], Path], tmp_path: Path
) -> None:
    table = real_data("islr/Hitters.csv")
    refused = type_in("train", "mlp", table, "--target", "Salary")
    assert refused.code == 2
    assert refused.err == (
        "error: Hitters.csv: 'Salary' is missing in 59 of 322 rows, first in line 2; give "
        "--drop-missing-target to drop them\n"
    )
    assert not list(tmp_path.iterdir())
    answer = type_in(
        "train",
        "mlp",
        table,
        "--target",
        "Salary",
        "--drop-missing-target",
        "--epochs",
        15,
        "--json",
        "--no-report",
    )
    results = json.loads(answer.out)
    assert results["metrics"]["rmse"] < results["baseline"]["rmse"]


def test_a_setting_inside_a_setting_is_reached_by_dots(type_in: Type, things_csv: Path) -> None:
    answer = type_in(
        *("train", "logistic", things_csv, "--target", "kind", "--print-config"),
        *("--set", "data.types.size=category", "--set", "train.optimizer_options.eps=1e-7"),
    )
    recipe = yaml.safe_load(answer.out)
    assert recipe["data"]["types"] == {"size": "category"}
    assert recipe["train"]["optimizer_options"] == {"eps": 1e-7}
    assert recipe["data"]["path"] == str(things_csv)


def test_a_run_is_evaluated_from_another_folder(
    type_in: Type, tmp_path: Path, things_csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "things.csv").write_text(things_csv.read_text())
    words = ("--target", "kind", "--epochs", 1, "--no-report", "--out", "run")
    type_in("train", "logistic", "things.csv", *words)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert type_in("evaluate", "../run", "--json").code == 0


def test_an_unfinished_run_is_gone_on_with(type_in: Type, tmp_path: Path) -> None:
    words = ("train", "mlp", "moons", "--epochs", 3, "--set", "model.hidden=4", "--no-report")
    cut = type_in(*words, "--set", "train.max_steps=10")
    assert "the run is saved; resume with: netwright train --resume runs/mlp-moons-001" in cut.err
    again = type_in(*words, "--resume", "auto")
    assert "resuming from runs/mlp-moons-001/checkpoints/step-000010: epoch 2, step 10" in again.err
    assert again.out.splitlines()[-1] == "run: runs/mlp-moons-001"
    whole = type_in(*words, "--json")
    shown = json.loads(whole.out)
    stored = json.loads((tmp_path / "runs/mlp-moons-001/results.json").read_text())
    assert shown["metrics"] == stored["metrics"]
    assert shown["run"] == "runs/mlp-moons-002"  # nothing unfinished is left: a new one began


def test_a_run_is_gone_on_with_by_its_folder_alone(type_in: Type, tmp_path: Path) -> None:
    type_in("train", "mlp", "xor", "--epochs", 3, "--set", "train.max_steps=4", "--no-report")
    resume = ("train", "--resume", "runs/mlp-xor-001", "--no-report")
    answer = type_in(*resume, "--set", "train.max_steps=9", "--json")
    assert json.loads(answer.out)["run"] == "runs/mlp-xor-001"
    other = type_in(*resume, "--lr", 0.5)
    assert other.code == 2
    assert "lr was not set, is 0.5; to resume anyway, allow lr\n" in other.err
    allowed = type_in(*resume, "--lr", 0.5, "--allow", "lr", "-q")
    assert allowed.code == 0
    config = yaml.safe_load((tmp_path / "runs/mlp-xor-001/config.yaml").read_text())
    assert config["train"]["lr"] == 0.5


def test_a_new_run_begins_with_old_weights(type_in: Type, tmp_path: Path) -> None:
    quickly = ("--no-report", "-q")
    type_in("train", "mlp", "xor", "--epochs", 2, *quickly)
    begin = ("--epochs", 1, "--from", "runs/mlp-xor-001")
    answer = type_in("train", "mlp", "xor", *begin, *quickly)
    assert answer.code == 0
    config = yaml.safe_load((tmp_path / "runs/mlp-xor-002/config.yaml").read_text())
    assert config["from"] == str(tmp_path / "runs/mlp-xor-001")
    same = type_in("train", "-c", "runs/mlp-xor-002/config.yaml", "--json", "--no-report")
    first = json.loads((tmp_path / "runs/mlp-xor-002/results.json").read_text())
    assert json.loads(same.out)["metrics"] == first["metrics"]


def test_a_model_is_tuned_part_by_part(type_in: Type, tmp_path: Path) -> None:
    short = ("--set", "model.hidden=8,6", "--epochs", 2, "--no-report", "-q")
    type_in("train", "mlp", "xor", *short)
    tuning = ("--from", "runs/mlp-xor-001", "--freeze", "hidden", "--unfreeze-every", 1)
    answer = type_in("train", "mlp", "xor", *short, *tuning, "--layer-decay", 0.4)
    assert answer.code == 0
    config = yaml.safe_load((tmp_path / "runs/mlp-xor-002/config.yaml").read_text())["train"]
    assert (config["freeze"], config["unfreeze_every"], config["layer_decay"]) == ("hidden", 1, 0.4)
    old, new = (load_file(f"runs/mlp-xor-00{n}/model/model.safetensors") for n in (1, 2))
    assert [name for name in old if torch.equal(old[name], new[name])] == [
        "hidden.0.0.bias",
        "hidden.0.0.weight",
    ]
    wrong = type_in("train", "mlp", "xor", *short, "--freeze", "hiden")
    sentence = "unknown part 'hiden' of the model; did you mean 'hidden'?"
    assert (wrong.code, wrong.err.strip()) == (2, f"error: {sentence}")


def test_what_cannot_be_gone_on_with_is_refused(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("train", "--resume", "nowhere")
    assert answer.code == 2
    sentence = "--resume must be auto, never or the folder of a run, got 'nowhere'"
    assert answer.err == f"error: {sentence}\n"
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.yaml").write_text("model: {name: ''}\ndata: {name: moons}\n")
    answer = type_in("train", "--resume", "own")
    assert answer.err == (
        "error: own was trained with a module of your own: resume it in Python with nw.fit(..., "
        "resume='own')\n"
    )


@pytest.mark.parametrize("count", [0, -3])
def test_fewer_than_one_process_is_refused(type_in: Type, count: int) -> None:
    answer = type_in("train", "mlp", "xor", "--nproc", count)
    assert answer.code == 2
    assert answer.err == f"error: there must be 1 process or more, got {count}\n"


def test_several_processes_are_launched_with_the_same_words(
    type_in: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def launch(words: list[str], processes: int, timeout: float) -> int:
        asked.extend((words, processes, timeout))
        return 7

    monkeypatch.setattr("netwright.recipes.fitting.launch.launch", launch)
    words = ["train", "mlp", "xor", "--nproc", "3", "--set", "train.rank_timeout=9"]
    monkeypatch.setattr("sys.argv", ["netwright", *words])
    assert type_in(*words).code == 7
    assert asked == [words, 3, 9.0]
    answer = type_in(*words, "--lr", "nonsense")
    assert answer.code == 2
    assert len(asked) == 3  # a mistake is told once, by one process


def test_the_settings_that_are_marked_so_have_an_option() -> None:
    options = {name for name in signature(train).parameters if name in field_names(TrainConfig)}
    assert options == set(settings_marked(Typed.AS_OPTION))


NOT_NEEDED = ("matplotlib", "sklearn", "scipy.optimize", "scipy.stats", "torch._dynamo", "pandas")


@pytest.mark.slow  # a new process
def test_a_small_table_imports_only_what_it_uses(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{row},{row % 2}\n" for row in range(40)))
    words = ["train", "mlp", str(path), "--target", "y", "--epochs", "1", "--no-report"]
    script = (
        "import sys\n"
        "from netwright.apps.cli.main import run\n"
        f"assert run({[*words, '--out', str(tmp_path / 'run')]}) == 0\n"
        f"print([name for name in {NOT_NEEDED} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
