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


def test_a_bad_recipe_and_an_unknown_cluster_are_refused(type_in: Type, recipe: Path) -> None:
    answer = type_in("launch", recipe, "--for", "slurms")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "error: unknown cluster 'slurms'; did you mean 'slurm'?\n"
    recipe.write_text("model: {name: mlq}\n")
    answer = type_in("launch", recipe, "--for", "slurm")
    assert (answer.code, answer.out) == (2, "")
    assert "unknown model 'mlq'" in answer.err
