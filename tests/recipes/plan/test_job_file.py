"""Job files are what shells and clusters read, and name what they are given."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from netwright.core.errors import ConfigError
from netwright.recipes.plan.job_file import CLUSTERS, Job
from tests.repetition import for_each

JOB = Job(recipe=Path("/shared/my recipes/gpt.yaml"), out=Path("/shared/runs/GPT $HOME"), nodes=3)


def words_after(script: str, first: str) -> list[str]:
    line = next(line for line in script.splitlines() if line.startswith(first))
    return shlex.split(line)


@for_each("cluster", ["torchrun", "slurm"])
def test_a_script_is_a_command_of_quoted_words(cluster: str) -> None:
    script = CLUSTERS[cluster](JOB)  # type: ignore[index]
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    words = words_after(script, "exec" if cluster == "torchrun" else "srun")
    assert words[words.index("-c") + 1] == "/shared/my recipes/gpt.yaml"
    assert words[words.index("--out") + 1] == "/shared/runs/GPT $HOME"
    assert words[words.index("--nnodes") + 1] == "3"
    assert "'/shared/runs/GPT $HOME'" in script  # the shell expands nothing in it


def test_slurm_meets_at_its_first_node_and_starts_again() -> None:
    script = CLUSTERS["slurm"](JOB)
    assert "#SBATCH --nodes=3" in script
    assert "#SBATCH --requeue" in script
    assert '--rdzv-endpoint "$HEAD:29500"' in script


@pytest.mark.parametrize(
    ("means", "endpoint"),
    [
        ("10.0.0.7 STREAM one", "one:29500"),
        ("127.0.1.1 STREAM one", "10.0.0.7:29500"),
        ("", "one:29500"),
    ],
)
def test_a_first_node_whose_name_no_other_reaches_is_given_by_its_address(
    means: str, endpoint: str, tmp_path: Path
) -> None:
    """The script is run, with commands in place of the cluster's."""
    commands = {
        "scontrol": "printf 'one\\ntwo\\n'",
        "getent": f"echo '{means}'; exit {0 if means else 2}",
        "hostname": "echo '10.0.0.7 192.168.0.7 fd00::7 '",
        "srun": 'printf "%s\\n" "$@"',
    }
    for name, body in commands.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"SLURM_JOB_NODELIST": "one,two", "SLURM_JOB_ID": "5"}
    said = subprocess.run(
        ["bash"],
        input=CLUSTERS["slurm"](JOB),
        capture_output=True,
        text=True,
        check=True,
        env={**environment, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    ).stdout.splitlines()
    assert said[said.index("--rdzv-endpoint") + 1] == endpoint
    assert said[said.index("--rdzv-id") + 1] == "5"


def test_pods_find_the_first_one_by_its_name() -> None:
    service, job = yaml.safe_load_all(CLUSTERS["kubernetes"](JOB))
    assert service["metadata"]["name"] == job["metadata"]["name"] == "gpt-home"
    spec = job["spec"]
    assert spec["completions"] == spec["parallelism"] == 3
    pod = spec["template"]["spec"]
    assert spec["template"]["metadata"]["labels"] == service["spec"]["selector"]
    assert pod["subdomain"] == "gpt-home"
    command = pod["containers"][0]["command"]
    assert command[command.index("--rdzv-endpoint") + 1] == "gpt-home-0.gpt-home:29500"
    assert command[command.index("--out") + 1] == "/shared/runs/GPT $HOME"


def test_pods_see_the_recipe_and_a_service_begins_with_a_letter() -> None:
    job = Job(recipe=Path("/shared/recipes/a.yaml"), out=Path("/shared/runs/2026-gpt"))
    service, batch = yaml.safe_load_all(CLUSTERS["kubernetes"](job))
    assert service["metadata"]["name"] == "netwright-2026-gpt"
    container = batch["spec"]["template"]["spec"]["containers"][0]
    assert container["volumeMounts"] == [{"name": "shared", "mountPath": "/shared"}]
    with pytest.raises(ConfigError, match="must be in one folder that is mounted"):
        CLUSTERS["kubernetes"](Job(recipe=Path("/home/me/a.yaml"), out=job.out))


def test_the_interface_is_that_of_both_transports() -> None:
    job = Job(recipe=JOB.recipe, out=JOB.out, interface="eth0")
    assert "export GLOO_SOCKET_IFNAME=eth0\nexport NCCL_SOCKET_IFNAME=eth0" in CLUSTERS["slurm"](
        job
    )


def test_what_no_job_has_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^nodes must be 1 or more, got 0$"):
        Job(recipe=JOB.recipe, out=JOB.out, nodes=0)
    with pytest.raises(ConfigError, match=r"^out must be a path without line breaks"):
        Job(recipe=JOB.recipe, out=Path("/shared/a\nkind: Evil\n#/gpt"))
    with pytest.raises(ConfigError, match=r"^recipe must be an absolute path"):
        Job(recipe=Path("gpt.yaml"), out=JOB.out)
