"""Job files are what shells and clusters read, and name what they are given."""

import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

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


def test_slurm_starts_again_and_keeps_what_was_said() -> None:
    script = CLUSTERS["slurm"](JOB)
    assert "#SBATCH --requeue\n#SBATCH --open-mode=append\n" in script


def run_script(script: str, tmp_path: Path, **commands: str) -> list[list[str]]:
    """The words that each task says, of a script that is run with commands in place of a cluster's.

    This `srun` gives every node the tasks that its options ask for, one without `--ntasks`, as some
    clusters do: it takes nothing from the lines of the batch script.
    """
    srun = """
    tasks=1
    while [ "${1#--}" != "$1" ]; do
        case $1 in --ntasks=*) tasks=${1#*=} ;; esac
        shift
    done
    for task in $(seq "$tasks"); do
        (for word in "$@" "$NETWRIGHT_DATA"; do echo "$word"; done; echo END)
    done
    """
    for name, body in {"srun": srun, **commands}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"SLURM_JOB_NODELIST": "one,two", "SLURM_JOB_ID": "5"}
    said = subprocess.run(
        ["bash"],
        input=script,
        capture_output=True,
        text=True,
        check=True,
        env={**environment, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    ).stdout
    return [task.splitlines() for task in said.split("END\n")[:-1]]


@pytest.mark.parametrize(
    ("means", "endpoint"),
    [
        ("10.0.0.7 STREAM one", "one:29500"),
        ("127.0.1.1 STREAM one", "10.0.0.7:29500"),
        ("", "one:29500"),
    ],
)
def test_every_node_meets_at_the_first_one_by_an_address_that_others_reach(
    means: str, endpoint: str, tmp_path: Path
) -> None:
    tasks = run_script(
        CLUSTERS["slurm"](JOB),
        tmp_path,
        scontrol="printf 'one\\ntwo\\nthree\\n'",
        getent=f"echo '{means}'; exit {0 if means else 2}",
        hostname="echo '10.0.0.7 192.168.0.7 fd00::7 '",
    )
    assert len(tasks) == JOB.nodes
    for said in tasks:
        assert said[:3] == ["python", "-m", "netwright.train.engines.elastic"]
        assert said[said.index("--nnodes") + 1] == "3"
        assert said[said.index("--rdzv-endpoint") + 1] == endpoint
        assert said[said.index("--rdzv-id") + 1] == "5"


def test_each_task_has_the_cpus_of_its_processes() -> None:
    script = CLUSTERS["slurm"](JOB)
    assert script.count("--cpus-per-task=32") == 2  # of the allocation, and of srun
    words = words_after(script, "srun")
    assert {"--nodes=3", "--ntasks=3", "--ntasks-per-node=1"} <= set(words)


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
    assert container["volumeMounts"][0] == {"name": "shared", "mountPath": "/shared"}
    with pytest.raises(ConfigError, match="must be in one folder that is mounted"):
        CLUSTERS["kubernetes"](Job(recipe=Path("/home/me/a.yaml"), out=job.out))


OWN = replace(JOB, files={"data.path": Path("/data/my table.csv"), "--from": Path("/runs/a")})
LIBRARY = replace(JOB, published="mnist", libraries=(Path("/srv/my sets"), Path("/shared/sets")))


@for_each("cluster", ["torchrun", "slurm", "kubernetes"])
def test_files_are_named_by_whole_paths(cluster: str) -> None:
    text = CLUSTERS[cluster](OWN)  # type: ignore[index]
    if cluster == "kubernetes":
        words = [*yaml.safe_load_all(text)][1]["spec"]["template"]["spec"]["containers"][0][
            "command"
        ]
    else:
        words = words_after(text, "exec" if cluster == "torchrun" else "srun")
    assert words[words.index("--set") + 1] == "data.path=/data/my table.csv"
    assert words[words.index("--from") + 1] == "/runs/a"
    assert "NETWRIGHT_DATA" not in text


@for_each("cluster", ["torchrun", "slurm", "kubernetes"])
def test_published_data_is_where_it_is_here_or_the_file_says_that_it_is_fetched(
    cluster: str,
) -> None:
    text = CLUSTERS[cluster](LIBRARY)  # type: ignore[index]
    assert "/srv/my sets:/shared/sets" in text
    assert "fetch" not in text
    fetched = CLUSTERS[cluster](replace(LIBRARY, libraries=()))  # type: ignore[index]
    assert "# Each machine looks for mnist in its cache, or fetches it: set" in fetched


def test_every_task_is_told_where_published_data_lies(tmp_path: Path) -> None:
    there = {"scontrol": "echo one", "getent": "echo 10.0.0.7"}
    tasks = run_script(CLUSTERS["slurm"](LIBRARY), tmp_path, **there)
    assert [said[-1] for said in tasks] == ["/srv/my sets:/shared/sets"] * 3


def pod_of(job: Job) -> Any:
    _, batch = yaml.safe_load_all(CLUSTERS["kubernetes"](job))
    return batch["spec"]["template"]["spec"]


def test_pods_share_memory_between_their_workers() -> None:
    pod = pod_of(JOB)
    (container,) = pod["containers"]
    mount = next(one for one in container["volumeMounts"] if one["mountPath"] == "/dev/shm")
    volume = next(one for one in pod["volumes"] if one["name"] == mount["name"])
    assert volume["emptyDir"] == {"medium": "Memory"}


def test_pods_see_data_wherever_it_lies() -> None:
    pod = pod_of(LIBRARY)
    (container,) = pod["containers"]
    mounts = {one["mountPath"]: one for one in container["volumeMounts"]}
    assert set(mounts) == {"/shared", "/srv/my sets", "/dev/shm"}  # /shared/sets is inside
    assert mounts["/srv/my sets"]["readOnly"] is True
    claims = {
        one["name"]: one["persistentVolumeClaim"]["claimName"]
        for one in pod["volumes"]
        if "persistentVolumeClaim" in one
    }
    assert claims == {"shared": "shared", "data-1": "data-1"}
    assert mounts["/srv/my sets"]["name"] == "data-1"
    assert {"name": "NETWRIGHT_DATA", "value": "/srv/my sets:/shared/sets"} in container["env"]
    assert "/data" in {one["mountPath"] for one in pod_of(OWN)["containers"][0]["volumeMounts"]}
    with pytest.raises(ConfigError, match="data must be in a folder that is mounted"):
        pod_of(replace(JOB, files={"data.path": Path("/a.csv")}))


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
    with pytest.raises(ConfigError, match=r"^port must be 65535 or less, got 70000$"):
        Job(recipe=JOB.recipe, out=JOB.out, port=70_000)
    with pytest.raises(ConfigError, match=r"^data.path must be an absolute path"):
        Job(recipe=JOB.recipe, out=JOB.out, files={"data.path": Path("a.csv")})
    with pytest.raises(ConfigError, match=r"^recipe must be an absolute path"):
        Job(recipe=Path("gpt.yaml"), out=JOB.out)
