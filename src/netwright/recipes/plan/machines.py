"""The GPUs that a training is planned for: one table of what each holds, computes and carries.

    flops         of products in bfloat16, as large ones reach them, not as printed on the box
    attention     of attention in bfloat16, heads of 64 and texts of 1,024 tokens, forward and back
    bandwidth     bytes that its memory reads and writes in a second
    link          bytes a second from a GPU to the next in its machine, and `network` to another one
    host          bytes of the host's memory, for each of its GPUs
    copies        bytes a second between the host's pinned memory and a GPU, in one direction
    stepping      bytes a second that the host's cores read and write in a step of Adam, for a GPU
    block         seconds in which the host starts the kernels of a block, forward and back; `again`
                  where the block is computed again, `shards` where its weights are sharded

Numbers of `here` are measured by `netwright plan --calibrate`, except links, which one GPU alone
does not show, and the peak of a GPU in the table. What it measured on one H200 the table has as
shares of published peaks, and takes for the other GPUs: 75 % of products (738e12), 21 % of the same
for attention (209e12), 85 % of memory (4.10e12) and 80 % of PCIe (53e9); seconds of a block as they
are. None is fitted to a step. Two are not measured: links, and the bytes of a step of Adam, 85 % of
the peak of the host's memory, of which each GPU has its part, as if all stepped at once. One GPU
alone had 157e9 on that host.

Source: NVIDIA's data sheets of A100, H100 and H200 (SXM), and of the DGX machines with eight of
them: 2 TB of memory, of 16 channels of DDR5-4800 (A100: 1 TB, DDR4-3200), PCIe 5 x 16 (A100: 4).
"""

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch

from netwright.core.checks import is_finite_number, nearest
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json, write_json
from netwright.data.files.locations import home_folder
from netwright.recipes.plan.attention_rate import attention_rate
from netwright.recipes.plan.block_seconds import BlockSeconds, measure_blocks
from netwright.recipes.plan.host_rates import HostRates, measure_host
from netwright.train.profiling.hardware_rates import HardwareRates, hardware_rates

FILE = "machine.json"  # in the cache folder
HERE = "here"
ASSUMED = "h200"  # whose link is assumed for a GPU that is not in the table
OTHERS = {"pcie", "nvl", "mig"}  # words of names: of the same chip, with other peaks and links
GB = 10**9


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One GPU, and what lies between it and others.

    Args:
        memory: its bytes.
        reserved: bytes of them that torch, its kernels and other processes take.
        flops: floating-point operations a second, of large products in bfloat16.
        attention: those of causal attention.
        peak: what its maker prints, by which utilisation is counted; or the measured `flops`.
        bandwidth: bytes a second of its memory.
        link: bytes a second between GPUs of a machine.
        network: bytes a second of each GPU to other machines.
        together: GPUs of a machine.
        host: bytes of the host's memory for each GPU.
        copies: bytes a second from the host to a GPU, or back.
        stepping: bytes a second that the host reads and writes in a step, for each GPU.
        block: seconds of the host for a block of a batch.
        block_again: those where the block is computed again.
        shards: those where its weights are sharded.
        shards_again: those where both are so.
        peak_is_measured: `peak` is what was measured, since the table does not have the GPU.
        link_of: the kind of GPU in the table whose link is assumed; empty: its own.
    """

    memory: float
    reserved: float = 1.5 * GB
    flops: float
    attention: float
    peak: float
    bandwidth: float
    link: float
    network: float = 50 * GB
    together: int = 8
    host: float = 250 * GB
    copies: float = 50 * GB
    stepping: float = 65 * GB
    block: float = 2.1e-3
    block_again: float = 4.3e-3
    shards: float = 3.9e-3
    shards_again: float = 5.9e-3
    peak_is_measured: bool = False
    link_of: str = ""


MACHINES = {
    "h200": Machine(
        memory=150 * GB,
        flops=742e12,
        attention=208e12,
        peak=990e12,
        bandwidth=4080 * GB,
        link=360 * GB,
    ),
    "h100": Machine(
        memory=85 * GB,
        flops=742e12,
        attention=208e12,
        peak=990e12,
        bandwidth=2850 * GB,
        link=360 * GB,
    ),
    "a100": Machine(
        memory=85 * GB,
        flops=234e12,
        attention=66e12,
        peak=312e12,
        bandwidth=1730 * GB,
        link=240 * GB,
        host=125 * GB,
        copies=25 * GB,
        stepping=43 * GB,
    ),
}


def find_machine(kind: str) -> Machine:
    """A kind of GPU by its name; `here`: the one that was calibrated."""
    if kind == HERE:
        return _read(home_folder() / FILE)
    if kind not in MACHINES:
        names = [*MACHINES, HERE]
        hint = nearest(kind, names) or f"; there are {', '.join(names)}"
        raise UnknownNameError(f"unknown kind of GPU {kind!r}{hint}")
    return MACHINES[kind]


def calibrate() -> Machine:
    """Measure the GPU of this machine, and keep what was found for `here`."""
    if not torch.cuda.is_available():
        raise ConfigError("there is no GPU here to calibrate: name one with --kind")
    device = torch.device("cuda")
    rates, attention = hardware_rates(device, "bfloat16"), attention_rate(device)
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info(device)
    taken = total - free - torch.cuda.memory_reserved(device)
    name, blocks = torch.cuda.get_device_name(device), measure_blocks(device)
    machine = measured_machine(name, rates, attention, total, taken, measure_host(device), blocks)
    path = home_folder() / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {field.name: getattr(machine, field.name) for field in fields(machine)})
    return machine


def measured_machine(
    name: str,
    rates: HardwareRates,
    attention: float,
    memory: int,
    reserved: int,
    host: HostRates,
    blocks: BlockSeconds,
) -> Machine:
    """A GPU of these rates; what cannot be measured on one is that of its kind in the table.

    Args:
        name: that its driver gives, as NVIDIA H100 80GB HBM3.
        rates: as measured.
        attention: operations a second of it.
        memory: bytes.
        reserved: bytes of them that are taken.
        host: what is there for it on the host.
        blocks: seconds in which the host starts the kernels of one.
    """
    kind = kind_of(name)
    link_of = kind or ASSUMED
    return Machine(
        memory=memory,
        reserved=reserved,
        flops=rates.flops,
        attention=attention,
        peak=max(rates.flops, MACHINES[kind].peak) if kind else rates.flops,
        bandwidth=rates.bytes,
        link=MACHINES[link_of].link,
        host=host.memory,
        copies=host.copies,
        stepping=host.stepping,
        **blocks._asdict(),
        peak_is_measured=not kind,
        link_of=link_of,
    )


def kind_of(name: str) -> str:
    """The kind in the table that has this name; empty: none, as for cards and parts of a GPU."""
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    return next((kind for kind in MACHINES if kind in words and not words & OTHERS), "")


def _read(path: Path) -> Machine:
    if not has_file(path):
        raise ConfigError("this machine has not been calibrated: run netwright plan --calibrate")
    told: Any = read_json(path)
    if not isinstance(told, dict) or not _is_machine(told):
        raise ConfigError(f"{path} is not a calibration: run netwright plan --calibrate again")
    return Machine(**told)


def _is_machine(told: dict[str, Any]) -> bool:
    if set(told) != {field.name for field in fields(Machine)}:
        return False
    numbers = told.keys() - {"peak_is_measured", "link_of"}
    return (
        type(told["peak_is_measured"]) is bool
        and told["link_of"] in list(MACHINES)  # a list: what has no hash may be looked for in it
        and all(is_finite_number(told[name]) and told[name] > 0 for name in numbers)
    )
