"""Verifying folders of every kind: all is well, or what is wrong between their files."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import netwright as nw
from netwright.core.errors import ConfigError


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    nw.fit("mlp", "iris", hidden=(8,), epochs=2, save_every=1, keep=2, out=out, quiet=True)
    return out


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return shutil.copytree(trained, tmp_path / "copy")


def test_a_run_is_well_and_says_what_it_is(run: Path) -> None:
    found = nw.verify(run)
    assert found.faults == ()
    assert found.kind == "run"
    assert (found.about["model"], found.about["data"], found.about["status"]) == (
        *("mlp", "iris", "done"),
    )
    assert found.about["trained by"].startswith(f"netwright {nw.__version__}, torch ")
    assert found.about["checkpoints"] == "2, of steps 4, 8"
    assert found.about["weights"] == "4 tensors, 268 bytes (F32)"
    assert found.about["written"].endswith(" UTC")
    weights = {one.name: one.shape for one in found.tensors["model/model.safetensors"]}
    assert weights["head.weight"] == (3, 8)


def test_parts_of_a_run_are_well_by_themselves(run: Path) -> None:
    model, checkpoint = nw.verify(run / "model"), nw.verify(run / "checkpoints" / "step-000008")
    assert (model.kind, model.faults) == ("model", ())
    assert (checkpoint.kind, checkpoint.faults) == ("checkpoint", ())


def test_a_link_that_the_user_made_to_a_run_is_followed(run: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(run)
    assert nw.verify(tmp_path / "link").holds


def test_a_run_that_has_not_finished_is_well(run: Path) -> None:
    shutil.rmtree(run / "model")
    (run / "results.json").unlink()
    found = nw.verify(run)
    assert (found.faults, found.about["status"]) == ((), "not finished")


def change_json(file: Path, **values: Any) -> None:
    """Change a file, and the sum in the manifest beside it."""
    content = json.dumps({**json.loads(file.read_bytes()), **values}).encode()
    file.write_bytes(content)
    manifest = file.parent / "manifest.json"
    if manifest.is_file():
        sums = json.loads(manifest.read_bytes())
        sums["sha256"][file.name] = hashlib.sha256(content).hexdigest()
        manifest.write_text(json.dumps(sums))


def widen(run: Path) -> None:
    recipe = yaml.safe_load((run / "config.yaml").read_text())
    recipe["model"]["hidden"] = [60_000, 60_000]
    (run / "config.yaml").write_text(yaml.safe_dump(recipe))
    change_json(run / "model" / "config.json", settings={**recipe["model"], "name": "mlp"})


def swap_checkpoints(run: Path) -> None:
    (run / "checkpoints" / "step-000008").rename(run / "checkpoints" / "step-000009")


def other_weights(run: Path) -> None:
    head = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    content = len(head).to_bytes(8, "little") + head + bytes(4)
    place = run / "checkpoints" / "step-000008"
    (place / "model.safetensors").write_bytes(content)
    sums = json.loads((place / "manifest.json").read_bytes())
    sums["sha256"]["model.safetensors"] = hashlib.sha256(content).hexdigest()
    (place / "manifest.json").write_text(json.dumps(sums))


MISFITS: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "sizes that no tensor has": (
        widen,
        {"model/config.json has hidden 60000, which does not match the shapes of its weights"},
    ),
    "another model than the recipe's": (
        lambda run: change_json(run / "model" / "config.json", name="linear"),
        {"config.yaml and model/config.json disagree on the model's 'name'"},
    ),
    "words": (
        lambda run: change_json(run / "model" / "config.json", spec={"vocab_size": 77}),
        {"model/config.json has vocab_size 77, which does not match the shapes of its weights"},
    ),
    "a checkpoint under another's name": (
        swap_checkpoints,
        {
            "checkpoints/step-000009/state.json is the state of step 8, its folder is "
            "checkpoints/step-000009",
            "best.json points to 'step-000008', where there is no complete checkpoint",
            "last.json points to 'step-000008', where there is no complete checkpoint",
        },
    ),
    "weights of something else": (
        other_weights,
        {
            "checkpoints/step-000008/model.safetensors and model/model.safetensors contain "
            "tensors of different names or shapes"
        },
    ),
    "a pointer to elsewhere": (
        lambda run: change_json(run / "best.json", checkpoint="../../x"),
        {"best.json points to '../../x', where there is no complete checkpoint"},
    ),
    "no model": (
        lambda run: shutil.rmtree(run / "model"),
        {"results.json belongs to a finished run, but there is no complete model"},
    ),
}


@pytest.mark.parametrize("case", MISFITS)
def test_files_that_do_not_fit_each_other_are_told(run: Path, case: str) -> None:
    change, sentences = MISFITS[case]
    change(run)
    found = nw.verify(run)
    assert set(found.misfits) == sentences
    assert all(file.is_fine for file in found.files)


STRANGE: list[Any] = [None, 3, "x", [], [[]], {}, {"x": []}, [1, "x"], 1e300, True]


@pytest.mark.parametrize("strange", STRANGE, ids=str)
def test_no_value_in_a_file_makes_it_fail(run: Path, strange: Any) -> None:
    for name in ("env.json", "results.json", "best.json", "last.json"):
        (run / name).write_text(json.dumps(strange))
    state = run / "checkpoints" / "step-000004" / "state.json"
    change_json(state, step=strange)
    change_json(run / "model" / "config.json", settings=strange, spec=strange, name=strange)
    nw.verify(run).to_json()
    change_json(run / "model" / "config.json", settings={"hidden": strange, "width": [strange]})
    change_json(run / "model" / "config.json", spec={"vocab_size": strange})
    for section in ("model", "data", "train"):
        (run / "config.yaml").write_text(yaml.safe_dump({section: strange}))
        nw.verify(run).to_json()


def test_searches_and_comparisons_are_known(tmp_path: Path) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "search.yaml").write_text("recipe: {model: {name: mlp}, data: {name: iris}}\n")
    (tmp_path / "trials.json").write_text('{"trials": [1, 2]}')
    (tmp_path / "study.journal").write_text("")
    found = nw.verify(tmp_path)
    assert (found.kind, found.holds, found.about["trials"]) == ("search", True, "2")
    assert (found.about["model"], found.about["data"]) == ("mlp", "iris")
    race = tmp_path / "race"
    race.mkdir()
    of_models = "models: [softmax, mlp]\nrecipe: {model: {name: mlp}, data: {name: iris}}\n"
    (race / "race.yaml").write_text(of_models)
    found = nw.verify(race)
    assert (found.kind, found.holds) == ("search over models", True)
    assert (found.about["models"], found.about["data"]) == ("softmax, mlp", "iris")
    assert "model" not in found.about
    (tmp_path / "study.journal").unlink()
    (tmp_path / "study.journal").symlink_to(tmp_path / "bash_profile")
    assert nw.verify(tmp_path).faults == ("study.journal: a link, not followed",)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "compare.json").write_text("{}")
    assert nw.verify(tmp_path / "c").kind == "comparison"


def test_what_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"not a folder that netwright writes: it has none of config\.yaml of a"
    ):
        nw.verify(tmp_path)
    with pytest.raises(ConfigError, match="is not a folder that can be read: No such file"):
        nw.verify(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="is not a folder that can be read: Not a directory"):
        nw.verify(tmp_path / "file")


def test_neither_torch_nor_a_model_is_loaded(run: Path) -> None:
    script = (
        f"import sys, netwright as nw; nw.verify({str(run)!r}); "
        "sys.exit(len({'torch', 'safetensors', 'numpy'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
