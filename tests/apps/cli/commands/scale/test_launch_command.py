"""`netwright launch`: a job file on standard output, and refusals before any machine is asked."""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.apps.cli.conftest import Type


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text("model: {name: mlp}\ndata: {name: moons}\ntrain: {epochs: 1}\n")
    return file


def test_prints_the_job_file_alone(type_in: Type, recipe: Path) -> None:
    answer = type_in("launch", recipe, "--for", "slurm", "--nodes", "4", "--nproc", "2")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("#!/bin/bash\n#SBATCH --job-name=small\n#SBATCH --nodes=4\n")
    subprocess.run(["bash", "-n"], input=answer.out, text=True, check=True)
    answer = type_in("launch", recipe, "--for", "kubernetes", "--out", recipe.parent / "runs" / "a")
    assert [part["kind"] for part in yaml.safe_load_all(answer.out)] == ["Service", "Job"]


@pytest.mark.parametrize("cluster", ["torchrun", "slurm", "kubernetes"])
def test_a_ready_recipe_stays_a_name_that_every_machine_knows(
    cluster: str, type_in: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = type_in("launch", "ready/shakespeare-gpt", "--for", cluster)
    assert (answer.code, answer.err) == (0, "")
    words = answer.out.replace("- ", "").split()  # YAML lists them
    assert words[words.index("-c") + 1] == "ready/shakespeare-gpt"
    assert words[words.index("--out") + 1] == str(tmp_path / "shakespeare-gpt")
    assert ("holds the run.\n" in answer.out) is (cluster == "kubernetes")


def test_data_is_named_as_every_machine_finds_it(
    type_in: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = Path("own.yaml")
    recipe.write_text("model: mlp\ndata: {name: table, path: sets/a.csv, target: y}\n")
    answer = type_in("launch", recipe, "--for", "slurm")
    assert f"--set data.path={tmp_path}/sets/a.csv" in answer.out
    monkeypatch.setenv("NETWRIGHT_DATA", "sets")
    answer = type_in("launch", "ready/mnist-cnn", "--for", "torchrun")
    assert f"export NETWRIGHT_DATA={tmp_path}/sets\n" in answer.out
    monkeypatch.delenv("NETWRIGHT_DATA")
    answer = type_in("launch", "ready/mnist-cnn", "--for", "torchrun")
    assert "# Each machine looks for mnist in its cache" in answer.out


def test_a_bad_recipe_and_an_unknown_cluster_are_refused(type_in: Type, recipe: Path) -> None:
    answer = type_in("launch", recipe, "--for", "slurms")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "error: unknown cluster 'slurms'; did you mean 'slurm'?\n"
    answer = type_in("launch", "ready/shakespear-gpt", "--for", "slurm")
    assert answer.err.endswith("did you mean 'ready/shakespeare-gpt'?\n")
    recipe.write_text("model: {name: mlq}\n")
    answer = type_in("launch", recipe, "--for", "slurm")
    assert (answer.code, answer.out) == (2, "")
    assert "unknown model 'mlq'" in answer.err
