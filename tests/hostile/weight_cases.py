"""Weights: safetensors files with headers that lie, and pickles under every name weights go by."""

import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from tests.hostile.case import Case, Place
from tests.hostile.edits import CONTROL, DEEP, DEPTH, safetensors, seal, write

OPEN = "evaluate run"
TRAIN = "train mlp table.csv --target y --epochs 1 --set model.hidden=4 --no-report --quiet"


def _whole(place: Place) -> tuple[dict[str, Any], bytes]:
    """The header and the numbers of honest weights."""
    content = (place.honest / "table" / "model" / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + size]), content[8 + size :]


Change = Callable[[dict[str, Any], bytes], bytes]


def _first(header: dict[str, Any]) -> dict[str, Any]:
    return next(part for name, part in header.items() if name != "__metadata__")


def _with(**values: Any) -> Change:
    """The first tensor is described otherwise."""

    def change(header: dict[str, Any], numbers: bytes) -> bytes:
        _first(header).update(values)
        return safetensors(header, numbers)

    return change


def _more(name: str, **values: Any) -> Change:
    """One tensor more."""

    def change(header: dict[str, Any], numbers: bytes) -> bytes:
        end = len(numbers)
        header[name] = {"dtype": "F32", "shape": [1], "data_offsets": [end, end + 4], **values}
        return safetensors(header, numbers + bytes(4))

    return change


def _all_start_at_0(header: dict[str, Any], numbers: bytes) -> bytes:
    for part in header.values():
        start, end = part["data_offsets"]
        part["data_offsets"] = [0, end - start]
    return safetensors(header, numbers)


def _without_one(header: dict[str, Any], numbers: bytes) -> bytes:
    last = max(header, key=lambda name: header[name]["data_offsets"][1])
    start = header.pop(last)["data_offsets"][0]
    return safetensors(header, numbers[:start])


def _many(header: dict[str, Any], numbers: bytes) -> bytes:
    end = len(numbers)
    empty = {"dtype": "F32", "shape": [0], "data_offsets": [end, end]}
    return safetensors({**header, **{f"t{one}": empty for one in range(100_000)}}, numbers)


HEADERS: dict[str, Change] = {
    "an empty file": lambda header, numbers: b"",
    "seven bytes": lambda header, numbers: b"\x01" * 7,
    "a header of no bytes": lambda header, numbers: safetensors(b"", numbers),
    "a header longer than the file": lambda header, numbers: safetensors(header, numbers, 10**6),
    "a header of 2^63 bytes": lambda header, numbers: safetensors(header, numbers, 1 << 63),
    "a header of 2^64 - 1 bytes": lambda header, numbers: safetensors(
        header, numbers, (1 << 64) - 1
    ),
    "a header that is no JSON": lambda header, numbers: safetensors(b"{'a': 1}", numbers),
    "a header that is no UTF-8": lambda header, numbers: safetensors(b"\xff\xfe", numbers),
    "a header deeply nested": lambda header, numbers: safetensors(DEEP.encode(), numbers),
    "a header of deep mappings": lambda header, numbers: safetensors(b'{"a":' * DEPTH, numbers),
    "a header that is a list": lambda header, numbers: safetensors(b"[]", numbers),
    "offsets beyond the end": _with(data_offsets=[0, 10**9]),
    "offsets that are negative": _with(data_offsets=[-16, 0]),
    "offsets backwards": _with(data_offsets=[64, 0]),
    "offsets that are text": _with(data_offsets=["0", "64"]),
    "tensors that overlap": _all_start_at_0,
    "a gap between tensors": _more("extra", data_offsets=[10_000, 10_004]),
    "bytes behind the last tensor": lambda header, numbers: safetensors(header, numbers + b"x"),
    "the last numbers cut off": lambda header, numbers: safetensors(header, numbers[:-4]),
    "no numbers at all": lambda header, numbers: safetensors(header),
    "a shape of 2^80": _with(shape=[1 << 40, 1 << 40]),
    "a shape that wraps around": _with(shape=[1 << 32, 1 << 32, 1]),
    "a negative shape": _with(shape=[-1, -1]),
    "a shape that is text": _with(shape="many"),
    "an unknown type of number": _with(dtype="F1"),
    "a type of number that does not fit": _with(dtype="F64"),
    "whole numbers": _with(dtype="I32"),
    "complex numbers": _with(dtype="C64"),
    "8-bit floats": _with(dtype="F8_E4M3"),
    "one tensor too many": _more("extra"),
    "a tensor whose name has escape codes": _more(CONTROL),
    "a tensor whose name is a path": _more("../../outside/secret.txt"),
    "a tensor without a name": _more(""),
    "one tensor too few": _without_one,
    "a hundred thousand tensors": _many,
    "numbers that are not finite": lambda header, numbers: safetensors(
        header, b"\x00\x00\xc0\x7f" * (len(numbers) // 4)
    ),
    "metadata that are no text": lambda header, numbers: safetensors(
        {**header, "__metadata__": {"a": [1]}}, numbers
    ),
}
EITHER = {"numbers that are not finite", "bytes behind the last tensor"}


def headers() -> Iterator[Case]:
    """Each of the headers in `model/`, behind a right sha256."""
    for name, change in HEADERS.items():

        def make(place: Place, change: Change = change) -> None:
            model = place.copy("table") / "model"
            write(model / "model.safetensors", change(*_whole(place)))
            seal(model)

        yield Case(
            kind="weights: safetensors",
            name=f"weights with {name}",
            make=make,
            commands=(OPEN,),
            end="either" if name in EITHER else "refused",
        )


def started_from() -> Iterator[Case]:
    """A few of them as a file to start from."""
    for name in (
        "a header deeply nested",
        "a header of 2^63 bytes",
        "a shape of 2^80",
        "tensors that overlap",
        "a tensor whose name has escape codes",
        "numbers that are not finite",
    ):

        def make(place: Place, change: Change = HEADERS[name]) -> None:
            place.copy("table.csv", "table.csv")
            write(place.work / "w.safetensors", change(*_whole(place)))

        yield Case(
            kind="weights: safetensors",
            name=f"started from {name}",
            make=make,
            commands=(f"{TRAIN} --from w.safetensors",),
        )


def firing(place: Place) -> bytes:
    """A pickle that would make a file in the canary, could it run; written by hand, not run."""
    return b"cposix\nsystem\n(S'touch " + bytes(place.outside / "ran") + b"'\ntR."


def _torch_archive(place: Place) -> bytes:
    """As `torch.save` writes it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("archive/data.pkl", firing(place))
        archive.writestr("archive/version", "3\n")
    return content.getvalue()


def _object_array(place: Place) -> bytes:
    """As numpy writes an array of objects."""
    head = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + firing(place)


def _array_archive(place: Place) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("inputs.npy", _object_array(place))
        archive.writestr("targets.npy", _object_array(place))
    return content.getvalue()


def _use(command: str) -> str:
    """What a file is given for: "train --from", "train -c", "predict"."""
    words = command.split()
    option = words[-2] if words[-1] == "{file}" and words[-2].startswith("-") else ""
    return f"{words[0]} {option}".strip()


def pickles() -> Iterator[Case]:
    """Pickles that would run, wherever a file of numbers is asked for."""
    start = f"{TRAIN} --from {{file}}"
    data = "train mlp {file} --epochs 1 --no-report --quiet"
    asked = "predict run {file}"
    for ending, content, command in (
        (".pt", firing, start),
        (".pt", _torch_archive, start),
        (".pth", _torch_archive, start),
        (".bin", _torch_archive, start),
        (".ckpt", firing, start),
        (".pkl", firing, start),
        (".safetensors", firing, start),
        (".safetensors", _torch_archive, start),
        (".npy", _object_array, data),
        (".npz", _array_archive, data),
        (".npy", firing, data),
        (".pkl", firing, data),
        (".joblib", firing, data),
        (".csv", firing, data),
        (".parquet", firing, data),
        (".npy", _object_array, asked),
        (".npz", _array_archive, asked),
        (".pkl", firing, asked),
        (".csv", firing, asked),
        (".pt", _torch_archive, "evaluate run {file}"),
        (".pkl", firing, "compare mlp {file} --seeds 2 --quiet"),
        (".pkl", firing, "train -c {file}"),
        (".pt", firing, "doctor {file}"),
    ):

        def make(
            place: Place, ending: str = ending, content: Callable[[Place], bytes] = content
        ) -> None:
            place.copy("table.csv", "table.csv")
            place.copy("table")
            write(place.work / f"file{ending}", content(place))

        yield Case(
            kind="weights: pickles",
            name=f"{content.__name__.strip('_').replace('_', ' ')} as {ending} for {_use(command)}",
            make=make,
            commands=(command.format(file=f"file{ending}"),),
        )
    for name, inside in (
        ("model.safetensors", OPEN),
        ("path.safetensors", "inspect run landscape"),
    ):

        def in_run(place: Place, name: str = name) -> None:
            run = place.copy("table")
            if name == "model.safetensors":
                write(run / "model" / name, firing(place))
                seal(run / "model")
            else:
                write(run / name, firing(place))

        yield Case(
            kind="weights: pickles",
            name=f"{name} of a run is a pickle",
            make=in_run,
            commands=(inside,),
        )


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from headers()
    yield from started_from()
    yield from pickles()
