"""What has to be the same for a run to go on exactly, and in what two sets of it differ."""

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from netwright.core import version
from netwright.core.adapted_module import module_name
from netwright.core.config import to_mapping
from netwright.core.files.json_text import parse_json
from netwright.core.files.manifest import read_folder
from netwright.data.dataset import Data
from netwright.data.fingerprint import OF_LOADER, fingerprint
from netwright.optimizers.schedules import SCHEDULES
from netwright.train.carried_state import lasting_tensors
from netwright.train.own.parts import PARTS
from netwright.train.saving.packing import unpack
from netwright.train.saving.state_kinds import telling_forgeries
from netwright.train.setting_marks import Resume
from netwright.train.settings import DEFAULT_OPTIMIZER, TrainConfig, settings_marked

FREE = settings_marked(Resume.FREE)
LENGTHS = settings_marked(Resume.LENGTH)
OWN = tuple(f"own_{part}" for part in PARTS)
# There where they decide something.
SOMETIMES = (*LENGTHS, *settings_marked(Resume.IF_GIVEN), *OWN, "parallel", "offload", "onednn")
STEERING = (*LENGTHS, *settings_marked(Resume.STEERS), "own_schedule")
REGROUPING = (*settings_marked(Resume.REGROUPS), "own_optimizer", "own_parameter_groups")
READING = (*settings_marked(Resume.READS), "by_length", "classes", "data", "seed")
# They may change the last bit: said, not refused.
SURROUNDINGS = ("device", "machine", "threads", "onednn", "offload")
HOLDING = "data.cache_gb"  # decides how many bytes of files are at hand at once
UNSAID = {"onednn": "on", "offload": "off"}  # what a condition is where it is absent


def describe_conditions(
    config: TrainConfig,
    *,
    seed: int,
    model: nn.Module,
    data: Data,
    processes: int,
    device: torch.device | None = None,
    shards: bool = False,
    own: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The conditions of a run, plain values by name; hashing the data takes a moment."""
    settings = {name: value for name, value in to_mapping(config).items() if name not in FREE}
    settings["optimizer"] = config.optimizer or DEFAULT_OPTIMIZER
    own = own or {}
    is_steady = config.average != "equal" and config.forcing[0] == config.forcing[1]
    is_steady = is_steady and "schedule" not in own  # which may be made for a length
    epochs = settings.pop("epochs")
    length: dict[str, Any] = {}
    if not is_steady or SCHEDULES.load(config.schedule).depends_on_length:
        # Otherwise a longer run begins with the shorter one.
        length = {"max_steps": config.max_steps} if epochs is None else {"epochs": epochs}
    for name in settings_marked(Resume.IF_GIVEN):
        if not settings[name]:
            del settings[name]
    splits = {name: split for name, split in data.splits() if name != "test"}
    return {
        "seed": seed,
        **length,
        **settings,
        "model": {
            name: f"{'x'.join(map(str, tensor.shape)) or 'one number'} {tensor.dtype}"
            for name, tensor in lasting_tensors(model).items()
        },
        "layers": {
            name or "model": f"{module_name(part)}({part.extra_repr()})"
            for name, part in model.named_modules()
        },
        **{f"own_{part}": name for part, name in own.items()},
        "classes": list(data.spec.class_names),
        "data": {name: fingerprint(split) for name, split in splits.items()},
        "processes": processes,
        **({"parallel": "shard"} if shards else {}),
        "torch": torch.__version__,
        "netwright": version.VERSION,
        "device": str((device or next(iter(model.parameters())).device).type),
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
        **({"onednn": "off"} if config.onednn == "off" else {}),
        **({"offload": "on"} if config.offload else {}),
    }


@telling_forgeries
def saved_onednn(folder: Path, *, inside: Path | None) -> Literal["on", "off"]:
    """Whether the run of a checkpoint trained with oneDNN.

    Args:
        folder: of the checkpoint.
        inside: the run that it belongs to, if any.
    """
    files = read_folder(folder, inside=inside, wanted=lambda name: name == "state.json")
    values = parse_json(files.get("state.json", b"{}"), folder / "state.json")
    conditions = unpack(values.get("conditions"), {}) or {}
    return "off" if conditions.get("onednn") == "off" else "on"


def find_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, str]:
    """Name -> what has changed, in words, of the conditions that differ."""
    changes = {}
    for name in [*now, *(name for name in before if name not in now)]:
        was: Any = before.get(name, UNSAID.get(name))
        present: Any = now.get(name, UNSAID.get(name))
        if was == present:
            continue
        if name == "data":
            changes[name] = _data_change(was, present)
        elif name in {"model", "layers"}:
            changes[name] = f"the model has changed: {_first_change(was, present)}"
        elif name == "classes":
            changes[name] = f"the classes were {_listed(was)}, are {_listed(present)}"
        else:
            told = "oneDNN" if name == "onednn" else name
            changes[name] = f"{told} was {_text(was)}, is {_text(present)}"
    return changes


def _data_change(before: Any, now: Any) -> str:
    for split in [*now, *(name for name in before if name not in now)]:
        was, present = before.get(split), now.get(split)
        if was is None or present is None:
            return f"the {split} split was {_there(was)}, is {_there(present)}"
        if str(present["rows"]).endswith(OF_LOADER):
            if was != present:
                return f"the loader of the {split} split gives different batches"
            continue
        if was["count"] != present["count"]:
            return f"the {split} split had {was['count']} rows, has {present['count']}"
        if any(was.get(name) != present.get(name) for name in ("rows", "held")):
            return f"the {split} split {_rows_change(was, present)}"
        if was["order"] != present["order"]:
            return f"the {split} split has its rows in a different order"
    return "the data has changed"


def _rows_change(was: Mapping[str, Any], present: Mapping[str, Any]) -> str:
    """Whether they are read in another order, or were on disk and are not; else they are others."""
    if was.get("held") != present.get("held"):
        return f"goes through its files in a different order: keep {HOLDING} as it was"
    settings = [part.get("in_memory_by", "") for part in (was, present)]
    if all(settings) or not any(settings):
        return "has different rows"
    return f"was {_place(was)}, is {_place(present)}: keep {''.join(settings)} as it was"


def _place(split: Mapping[str, Any]) -> str:
    return "read from disk" if "in_memory_by" in split else "held in memory"


def _first_change(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    for name in [*now, *(name for name in before if name not in now)]:
        was, present = before.get(name, "absent"), now.get(name, "absent")
        if was != present:
            return f"{name!r} was {was}, is {present}"
    return "its parts are in a different order"


def _listed(names: Any) -> str:
    shown = ", ".join(str(name) for name in names[:5])
    return (shown if len(names) <= 5 else f"{shown} ... ({len(names)})") or "none"


def _there(part: object) -> str:
    return "absent" if part is None else "present"


def _text(value: Any) -> str:
    return "not set" if value is None else str(value)
