"""`netwright verify`: what is in a folder, and an exit code that tells whether all is well."""

import json
import shutil
from pathlib import Path

from tests.apps.cli.conftest import Type


def test_shows_a_run_that_is_well(type_in: Type, things_run: Path) -> None:
    answer = type_in("verify", things_run)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"{things_run} is a run\nmodel: mlp\n")
    assert "head.weight" in answer.out
    assert answer.out.splitlines()[-1].startswith("everything is intact: ")


def test_a_damaged_file_is_named(type_in: Type, things_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(things_run, tmp_path / "copy")
    (run / "model" / "model.safetensors").write_bytes(b"x")
    answer = type_in("verify", run)
    assert (answer.code, answer.err) == (1, "")
    assert answer.out.splitlines()[-3:] == [
        "wrong: model/model.safetensors: damaged, its sha256 differs from the manifest",
        "wrong: results.json belongs to a finished run, but there is no complete model",
        "2 things wrong",
    ]


def test_of_very_many_files_the_first_are_shown(
    type_in: Type, things_run: Path, tmp_path: Path
) -> None:
    run = shutil.copytree(things_run, tmp_path / "copy")
    for number in range(600):
        (run / f"x{number}").touch()
    lines = type_in("verify", run).out.splitlines()
    assert sum(line.startswith("x") for line in lines) < 600 < len(lines) + 100
    assert any(line.endswith("more; --json gives them all") for line in lines)


def test_json_has_all(type_in: Type, things_run: Path) -> None:
    told = json.loads(type_in("verify", things_run, "--json").out)
    assert (told["kind"], told["holds"], told["faults"]) == ("run", True, [])
    assert {"name", "dtype", "shape", "size"} == set(told["tensors"]["model/model.safetensors"][0])


def test_what_is_no_folder_of_ours_is_a_wrong_usage(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("verify", tmp_path / "none")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.endswith("none is not a folder that can be read: No such file or directory\n")
