"""The file that starts a run on several machines: for torchrun by hand, Slurm or Kubernetes.

On every machine torchrun starts the processes, which meet at the first machine's address and listen
on no other, see `train/engines/elastic.py`. Where one is lost the group is started again, a limited
number of times, and goes on from the newest good checkpoint in the folder that all machines share.

A job starts in a folder of its own: files are named by whole paths, and what NETWRIGHT_DATA is here
it is there.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from netwright.core.errors import ConfigError
from netwright.recipes.plan.recipe_file import to_yaml

Cluster = Literal["torchrun", "slurm", "kubernetes"]
IMAGE = "registry.example.com/netwright:latest"
CLAIM = "shared"
DATA_CLAIM = "data"
SHARED_MEMORY = "/dev/shm"  # by which workers hand over batches
CPUS = 4  # of each process: its own, and those of its workers
LAST_PORT = 65535


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run on machines.

    Args:
        recipe: its file, in a folder that all machines share.
        out: the run folder, likewise.
        ready: whether `recipe` is the name of a ready one, which every machine's package has.
        nodes: how many machines.
        processes: of each, one for each of its GPUs.
        restarts: how often the group is started again.
        port: at which the processes meet.
        interface: of the network over which they talk; None: they choose.
        files: those that the recipe names, by the option of `train` that says where they lie.
        published: the data set of the recipe, where it is a published one.
        libraries: the folders in which such sets are looked for, NETWRIGHT_DATA of every machine.
    """

    recipe: Path
    out: Path
    ready: bool = False
    nodes: int = 2
    processes: int = 8
    restarts: int = 3
    port: int = 29500
    interface: str | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    published: str = ""
    libraries: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no job has."""
        for name, least in (("nodes", 1), ("processes", 1), ("restarts", 0), ("port", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be {least} or more, got {getattr(self, name)}")
        if self.port > LAST_PORT:
            raise ConfigError(f"port must be {LAST_PORT} or less, got {self.port}")
        paths = [("out", self.out), *self.files.items()]
        paths += [] if self.ready else [("recipe", self.recipe)]
        paths += [("NETWRIGHT_DATA", library) for library in self.libraries]
        for name, path in paths:
            if not path.is_absolute():
                raise ConfigError(
                    f"{name} must be an absolute path that all machines see, got {path}"
                )
            if not str(path).isprintable():
                raise ConfigError(f"{name} must be a path without line breaks and the like")

    @property
    def name(self) -> str:
        """Of the job: letters, digits and dashes, as Kubernetes wants it."""
        plain = re.sub(r"[^a-z0-9]+", "-", self.out.name.lower()).strip("-")[:40].strip("-")
        return plain if plain[:1].isalpha() else f"netwright-{plain}".strip("-")

    def command(self, *, endpoint: str, identity: str) -> list[str]:
        """What every machine runs; what is given is taken as it is."""
        return [
            *("python", "-m", "netwright.train.engines.elastic"),
            *("--nnodes", str(self.nodes), "--nproc-per-node", str(self.processes)),
            *("--max-restarts", str(self.restarts), "--rdzv-backend", "bound"),
            *("--rdzv-id", identity, "--rdzv-endpoint", endpoint),
            *("-m", "netwright", "train", "-c", str(self.recipe)),
            *("--out", str(self.out), "--resume", "auto"),
            *(word for option, path in self.files.items() for word in _option(option, path)),
        ]

    @property
    def environment(self) -> dict[str, str]:
        """The interface, for both of torch's transports, and where published data lies."""
        names = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME") if self.interface else ()
        data = {"NETWRIGHT_DATA": ":".join(map(str, self.libraries))} if self.libraries else {}
        return {**{name: str(self.interface) for name in names}, **data}

    @property
    def read_folders(self) -> list[Path]:
        """The folders in which data lies."""
        of_files = {path if path.is_dir() else path.parent for path in self.files.values()}
        return sorted({*of_files, *self.libraries})


def for_torchrun(job: Job) -> str:
    """A script that is started on each machine by hand."""
    words = job.command(endpoint="$HEAD", identity=job.name)
    return "\n".join(
        [
            "#!/bin/bash",
            "# Start this on each machine with the address of the first one:",
            f"#     HEAD=10.0.0.1:{job.port} bash job.sh",
            "# Change: nothing, where all machines have this recipe, this folder and this data.",
            "set -euo pipefail",
            *_exports(job),
            f': "${{HEAD:?set HEAD to the first machine, as in HEAD=10.0.0.1:{job.port}}}"',
            f"exec {_quoted(words)}",
            "",
        ]
    )


def for_slurm(job: Job) -> str:
    """A batch script for sbatch."""
    words = job.command(endpoint=f"$HEAD:{job.port}", identity="$SLURM_JOB_ID")
    return "\n".join(
        [
            "#!/bin/bash",
            f"#SBATCH --job-name={job.name}",
            f"#SBATCH --nodes={job.nodes}",
            "#SBATCH --ntasks-per-node=1",
            f"#SBATCH --gpus-per-node={job.processes}",
            f"#SBATCH --cpus-per-task={CPUS * job.processes}",
            "#SBATCH --time=24:00:00",
            "#SBATCH --requeue",
            "#SBATCH --open-mode=append",
            "# Change: CPUs, time, and the partition and account of your cluster; HEAD, where the",
            "# nodes reach the first one at another address.",
            "set -euo pipefail",
            *_exports(job),
            'HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST")',
            "HEAD=${HEAD%%$'\\n'*}",
            "# This runs on the first node, whose own name may mean 127.0.1.1 there.",
            'case $(getent ahostsv4 "$HEAD") in',
            "127.*) HEAD=$(hostname -I); HEAD=${HEAD%% *} ;;",
            "esac",
            "# One torchrun on every node: srun may take neither tasks nor CPUs from #SBATCH.",
            f"srun --nodes={job.nodes} --ntasks={job.nodes} --ntasks-per-node=1 "
            f"--cpus-per-task={CPUS * job.processes} --kill-on-bad-exit=1 {_quoted(words)}",
            "",
        ]
    )


def for_kubernetes(job: Job) -> str:
    """An indexed Job, and the Service by which its pods find the first one."""
    labels = {"app": job.name}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": job.name},
        "spec": {"clusterIP": "None", "selector": labels, "publishNotReadyAddresses": True},
    }
    endpoint = f"{job.name}-0.{job.name}:{job.port}"
    kept = {job.out.parent} if job.ready else {job.out.parent, job.recipe.parent}
    mounted = Path(os.path.commonpath(kept))
    if mounted == mounted.parent:
        raise ConfigError(
            f"the recipe and the run must be in one folder that is mounted in the pods, got "
            f"{job.recipe} and {job.out}"
        )
    outside = _outermost(folder for folder in job.read_folders if mounted not in _upwards(folder))
    if Path("/") in outside:
        raise ConfigError("data must be in a folder that is mounted in the pods, got /")
    data = {f"{DATA_CLAIM}-{number}": str(place) for number, place in enumerate(outside, 1)}
    container = {
        "name": "train",
        "image": IMAGE,
        "command": job.command(endpoint=endpoint, identity=job.name),
        "env": [{"name": name, "value": value} for name, value in job.environment.items()],
        "resources": {"limits": {"nvidia.com/gpu": job.processes}},
        "volumeMounts": [
            {"name": CLAIM, "mountPath": str(mounted)},
            *({"name": name, "mountPath": place, "readOnly": True} for name, place in data.items()),
            {"name": "shared-memory", "mountPath": SHARED_MEMORY},
        ],
    }
    pod = {
        "subdomain": job.name,
        "restartPolicy": "OnFailure",
        "containers": [container],
        "volumes": [
            *({"name": n, "persistentVolumeClaim": {"claimName": n}} for n in (CLAIM, *data)),
            # Of a container's own 64 MB a few batches of images have no place.
            {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
        ],
    }
    batch = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": job.name},
        "spec": {
            "completionMode": "Indexed",
            "completions": job.nodes,
            "parallelism": job.nodes,
            "backoffLimit": job.restarts * job.nodes,
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    held = "the run" if job.ready else "the recipe and the run"
    head = (
        f"# Change: the image, and the claim {CLAIM!r} of a volume that all pods may write to;\n"
        f"# it is mounted at {mounted} and holds {held}.\n"
    )
    for name, place in data.items():
        head += f"# The claim {name!r} is of a volume with what lies in {place}; it is only read.\n"
    return f"{head}{_remarks(job)}{to_yaml(service)}---\n{to_yaml(batch)}"


CLUSTERS: Mapping[Cluster, Callable[[Job], str]] = {
    "torchrun": for_torchrun,
    "slurm": for_slurm,
    "kubernetes": for_kubernetes,
}


def _option(option: str, path: Path) -> tuple[str, str]:
    """How `train` is told of a file."""
    return (option, str(path)) if option.startswith("-") else ("--set", f"{option}={path}")


def _upwards(folder: Path) -> tuple[Path, ...]:
    return folder, *folder.parents


def _outermost(folders: Iterable[Path]) -> list[Path]:
    """Those that lie in none of the others."""
    found = set(folders)
    return sorted(folder for folder in found if not found & set(folder.parents))


def _exports(job: Job) -> list[str]:
    exports = [f"export {name}={shlex.quote(value)}" for name, value in job.environment.items()]
    return [*_remarks(job).splitlines(), *exports]


def _remarks(job: Job) -> str:
    """What is to be known of data that nobody said the place of."""
    if not job.published or job.libraries:
        return ""
    return (
        f"# Each machine looks for {job.published} in its cache, or fetches it: set "
        f"NETWRIGHT_DATA, here or\n# where this was printed, to a shared folder that holds it.\n"
    )


def _quoted(words: list[str]) -> str:
    """As a shell takes them; a word with a variable is expanded, and stays one word."""
    return " ".join(f'"{word}"' if word.startswith("$") else shlex.quote(word) for word in words)
