"""Shards: tar files that lie, links and paths in them, parquet files, addresses of anywhere."""

import io
import os
import tarfile
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hostile.case import Case, End, Place
from tests.hostile.edits import CONTROL, DEEP, GARBAGE, fifo, link, write
from tests.hostile.image_cases import png, saved

TRAIN = "train mlp {data} --epochs 1 --set model.hidden=4 --no-report --quiet"
PICTURES = [(f"{number}.png", saved("PNG")) for number in range(20)]
LABELS = [(f"{number}.cls", b"%d" % (number % 2)) for number in range(20)]


def tar(*more: tuple[str, bytes], kind: bytes = tarfile.REGTYPE, target: str = "") -> bytes:
    """A good tar file, and these members, which may be links to a target."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as made:
        honest = [one for pair in zip(PICTURES, LABELS, strict=True) for one in pair]
        for place, (name, content) in enumerate([*honest, *more]):
            about = tarfile.TarInfo(name)
            about.size = len(content)
            if place >= len(honest):
                about.type, about.linkname = kind, target
            made.addfile(about, io.BytesIO(content))
    return file.getvalue()


def sized(field: bytes, kind: bytes = b"0") -> bytes:
    """A tar file whose first header says this size and type, with a sum that is right."""
    content = bytearray(tar())
    content[124:136], content[156:157], content[148:156] = field, kind, b" " * 8
    content[148:156] = b"%06o\0 " % sum(content[:512])
    return bytes(content)


def parquet(images: list[bytes], labels: list[object], **options: object) -> bytes:
    file = io.BytesIO()
    table = pa.table({"image": images, "label": labels})
    pq.write_table(table, file, **options)
    return file.getvalue()


def repeated(size: int, times: int) -> bytes:
    """A parquet file that has an image once and says it many times."""
    image = saved("PNG") + bytes(size)
    column = pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), [image])
    file = io.BytesIO()
    table = pa.table({"image": column, "label": [0, 1] * (times // 2)})
    pq.write_table(table, file, store_schema=False)
    return file.getvalue()


IMAGES = [content for _, content in PICTURES]
CLASSES: list[object] = [number % 2 for number in range(20)]

FILES: dict[str, tuple[str, Callable[[], bytes], End]] = {
    "garbage": ("b.tar", lambda: GARBAGE, "refused"),
    "nothing": ("b.tar", lambda: b"", "refused"),
    "no member": ("b.tar", lambda: bytes(1024), "refused"),
    "a half": ("b.tar", lambda: tar()[:5_000], "refused"),
    "no end": ("b.tar", lambda: tar().rstrip(b"\0"), "refused"),
    "a member that leads up": (
        "b.tar",
        lambda: tar(("../../outside/x.png", saved("PNG")), ("../../outside/x.cls", b"1")),
        "harmless",
    ),
    "an absolute member": (
        "b.tar",
        lambda: tar(("/etc/x.png", saved("PNG")), ("/etc/x.cls", b"0")),
        "harmless",
    ),
    "a link": (
        "b.tar",
        lambda: tar(("x.png", b""), kind=tarfile.SYMTYPE, target="../outside/secret.txt"),
        "refused",
    ),
    "a hard link": ("b.tar", lambda: tar(("x", b""), kind=tarfile.LNKTYPE, target="a"), "refused"),
    "a device": ("b.tar", lambda: tar(("x.png", b""), kind=tarfile.CHRTYPE), "refused"),
    "a member of 8 GB": ("b.tar", lambda: sized(b"77777777777\0"), "refused"),
    "a member of 2^88 bytes": ("b.tar", lambda: sized(b"\x80" + b"\xff" * 11), "refused"),
    "a member of fewer than no bytes": ("b.tar", lambda: sized(b"\xff" * 12), "refused"),
    "a long name of 8 GB": ("b.tar", lambda: sized(b"77777777777\0", b"L"), "refused"),
    "an extended header of 1 MB": ("b.tar", lambda: sized(b"00004000000\0", b"x"), "refused"),
    "a name of escape codes": (
        "b.tar",
        lambda: tar((f"x{CONTROL}.png", b"x"), (f"x{CONTROL}.cls", b"1")),
        "refused",
    ),
    "a label of escape codes": (
        "b.tar",
        lambda: tar(("x.png", saved("PNG")), ("x.cls", CONTROL.encode())),
        "either",
    ),
    "a deep label": (
        "b.tar",
        lambda: tar(("x.png", saved("PNG")), ("x.json", DEEP.encode())),
        "refused",
    ),
    "an image of 60,000 x 60,000": (
        "b.tar",
        lambda: tar(("x.png", png(60_000, 60_000)), ("x.cls", b"1")),
        "refused",
    ),
    "parquet beside it": ("b.parquet", lambda: parquet(IMAGES, CLASSES), "refused"),
}
PARQUET: dict[str, tuple[Callable[[], bytes], End]] = {
    "garbage": (lambda: b"PAR1" + GARBAGE + b"PAR1", "refused"),
    "a half": (lambda: parquet(IMAGES, CLASSES)[:-200], "refused"),
    "nothing": (lambda: b"", "refused"),
    "no row": (lambda: parquet([], []), "refused"),
    "an image that is none": (lambda: parquet([*IMAGES[1:], b"x"], CLASSES), "either"),
    "an image of 60,000 x 60,000": (
        lambda: parquet([png(60_000, 60_000), *IMAGES[1:]], CLASSES),
        "refused",
    ),
    "an image of 2 MB 2,000 times": (lambda: repeated(2_000_000, 2_000), "refused"),
    "labels of escape codes": (
        lambda: parquet(IMAGES, [CONTROL, "a"] * 10),
        "either",
    ),
    "an image that is not there": (lambda: parquet([*IMAGES[1:], b""], CLASSES), "either"),
}
ADDRESSES = {
    "the network": "s3://bucket/shards",
    "a file": "file:///etc/passwd",
    "a shell": "ssh://host/shards",
    "an address in an address": "simplecache::https://host/x.tar",
    "no scheme": "://x.tar",
    "escape codes": f"s3://{CONTROL}",
}


def files() -> Iterator[Case]:
    """A bad shard beside a good one."""
    for name, (file, content, end) in FILES.items():

        def make(place: Place, file: str = file, content: Callable[[], bytes] = content) -> None:
            (place.work / "shards").mkdir(parents=True)
            write(place.work / "shards" / "a.tar", tar())
            write(place.work / "shards" / file, content())

        yield Case(
            kind="shards",
            name=f"shards, one of which is or has {name}",
            make=make,
            commands=(TRAIN.format(data="shards"),),
            end=end,
        )
    for name, (rows, end) in PARQUET.items():

        def make_rows(place: Place, rows: Callable[[], bytes] = rows) -> None:
            (place.work / "shards").mkdir(parents=True)
            write(place.work / "shards" / "a.parquet", parquet(IMAGES, CLASSES))
            write(place.work / "shards" / "b.parquet", rows())

        yield Case(
            kind="shards",
            name=f"shards of parquet, one of which is or has {name}",
            make=make_rows,
            commands=(TRAIN.format(data="shards"),),
            end=end,
        )


def odd_files() -> Iterator[Case]:
    """Names of shards that are none, and addresses."""

    def linked(place: Place) -> None:
        (place.work / "shards").mkdir(parents=True)
        write(place.work / "shards" / "a.tar", tar())
        link(place.work / "shards" / "b.tar", place.outside / "secret.txt")

    def piped(place: Place) -> None:
        (place.work / "shards").mkdir(parents=True)
        write(place.work / "shards" / "a.tar", tar())
        fifo(place.work / "shards" / "b.tar")

    def sparse(place: Place) -> None:
        (place.work / "shards").mkdir(parents=True)
        write(place.work / "shards" / "a.tar", sized(b"77777777777\0", b"x"))
        os.truncate(place.work / "shards" / "a.tar", 10_000_000_000)

    made = {"a link": linked, "a pipe": piped, "a header of 8 GB that is there": sparse}
    for name, make in made.items():
        yield Case(
            kind="shards",
            name=f"shards, one of which is {name}",
            make=make,
            commands=(TRAIN.format(data="shards"),),
            end="harmless" if make is piped else "refused",
        )
    for name, address in ADDRESSES.items():
        yield Case(
            kind="shards",
            name=f"shards at an address of {name}",
            make=lambda place: place.work.mkdir(parents=True, exist_ok=True),
            commands=(TRAIN.format(data=f"'{address}'"),),
            environment={"NETWRIGHT_OFFLINE": "1"},
        )


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from files()
    yield from odd_files()
