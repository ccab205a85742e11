"""T18: images that are damaged, odd or no images: decoded right, or named; never guessed."""

import io
import os
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

import netwright as nw
from netwright.data.images import bad_files, decoding
from netwright.data.pixels import PixelSplit
from tests.faults.scenario import Figures, Scenario

SIDE = 16
RED, WHITE, BLACK = (255, 0, 0), (255, 255, 255), (0, 0, 0)
ODD_NAME = "\x1b[31mtwo\nlines \u202egnp.猫" + os.fsdecode(b"\xff") + ".png"
SETTINGS = {"val_size": 0, "test_size": 0, "mode": "RGB", "size": SIDE}


def encoded(image: Image.Image, kind: str, **settings: object) -> bytes:
    """The image as a file of this kind."""
    file = io.BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


def plain(colour: tuple[int, ...] | int = RED, mode: str = "RGB") -> Image.Image:
    return Image.new(mode, (SIDE, SIDE), colour)


def upper_half(mode: str, upper: object, lower: object) -> Image.Image:
    """Two halves, of which the upper one is white in every good case."""
    image = Image.new(mode, (SIDE, SIDE), lower)  # type: ignore[arg-type]
    image.paste(upper, (0, 0, SIDE, SIDE // 2))  # type: ignore[arg-type]
    return image


def palette() -> Image.Image:
    image = upper_half("P", 1, 2)
    image.putpalette([9, 9, 9, *WHITE, *RED])
    return image


def turned() -> bytes:
    """Stored lying on its side, with the note to turn it clockwise."""
    exif = Image.Exif()
    exif[0x0112] = 6
    lying = upper_half("RGB", WHITE, RED).transpose(Image.Transpose.ROTATE_90)
    return encoded(lying, "jpeg", exif=exif, quality=100, subsampling=0)


def deep() -> Image.Image:
    values = np.full((SIDE, SIDE), 257 * 100, dtype=np.uint16)
    values[: SIDE // 2] = 65535
    return Image.fromarray(values)


def cut_off() -> bytes:
    """A JPEG of noise that lacks the second half of its pixels."""
    noise = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    content = encoded(Image.fromarray(noise), "jpeg", quality=100)
    start = content.index(b"\xff\xda")  # of the pixels
    return content[: (start + len(content)) // 2]


def broken_sum() -> bytes:
    content = bytearray(encoded(upper_half("RGB", WHITE, RED), "png"))
    content[content.index(b"IEND") - 5] ^= 1  # in the sum over the pixels
    return bytes(content)


def huge() -> bytes:
    """A few bytes that claim to hold 2.5 thousand million pixels."""
    content = encoded(plain(0, "L"), "png")
    head = b"IHDR" + struct.pack(">II", 50_000, 50_000) + content[24:29]
    return content[:12] + head + struct.pack(">I", zlib.crc32(head)) + content[33:]


def as_file(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A file among good ones.

    Args:
        name: what is special about it.
        make: makes it at a path.
        lower: the colour of its lower half, where it is good; the upper one is white.
        file: what it is called.
        is_locked: whether the system refuses to open it.
    """

    name: str
    make: Callable[[Path], object]
    lower: tuple[int, int, int] | None = None
    file: str = "odd.png"
    is_locked: bool = False


HALVES = upper_half("RGB", WHITE, RED)
CASES = (
    Case(name="no byte", make=as_file(b"")),
    Case(name="a JPEG cut off", make=as_file(cut_off()), file="odd.jpg"),
    Case(name="a wrong sum in a PNG", make=as_file(broken_sum())),
    Case(name="text", make=as_file(b"My holidays\n"), file="odd.jpg"),
    Case(
        name="CMYK",
        make=as_file(encoded(upper_half("CMYK", (0, 0, 0, 0), (0, 255, 255, 0)), "tiff")),
        file="odd.tif",
        lower=RED,
    ),
    Case(name="16 bits", make=as_file(encoded(deep(), "png")), lower=(100, 100, 100)),
    Case(name="a palette", make=as_file(encoded(palette(), "png")), lower=RED),
    Case(
        name="alpha",
        make=as_file(encoded(upper_half("RGBA", (0, 0, 0, 0), (*RED, 255)), "png")),
        lower=RED,
    ),
    Case(name="EXIF", make=as_file(turned()), file="odd.jpg", lower=RED),
    Case(
        name="animated",
        make=as_file(encoded(HALVES, "gif", save_all=True, append_images=[plain(BLACK)])),
        file="odd.gif",
        lower=RED,
    ),
    Case(name="50,000 x 50,000 pixels", make=as_file(huge())),
    Case(name="unreadable", make=as_file(encoded(HALVES, "png")), is_locked=True),
    Case(name="a broken link", make=lambda path: path.symlink_to("nowhere")),
    Case(name="a folder", make=lambda path: path.mkdir(), file="odd.jpg"),
    Case(name="an odd name", make=as_file(encoded(HALVES, "png")), file=ODD_NAME, lower=RED),
)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How loading the folder ended."""

    refusal: str = ""
    halves: tuple[tuple[int, ...], ...] = ()
    notes: tuple[str, ...] = ()


def folder_with(case: Case, root: Path) -> Path:
    """Two classes of good images, and a third one in which the case is added to a good image."""
    for place, name in enumerate(("a", "b", "odd")):
        (root / name).mkdir(parents=True)
        plain((place, place, place)).save(root / name / "good.png")
    case.make(root / "odd" / case.file)
    return root


def locked(path: object, *settings: object) -> io.BufferedReader:
    """What `open` does with a file of somebody else; to root every file opens."""
    if str(path).endswith("odd.png"):
        raise PermissionError(13, "Permission denied")
    return open(path, "rb")  # type: ignore[call-overload,no-any-return]


def loaded(case: Case, root: Path, **settings: object) -> Ending:
    """Load the folder by the public door."""
    with pytest.MonkeyPatch.context() as patch:
        if case.is_locked:
            patch.setattr(decoding, "open", locked, raising=False)
        try:
            data = nw.data.load("images", path=str(root), **{**SETTINGS, **settings})
        except nw.NetwrightError as error:
            return Ending(refusal=str(error))
    split = data.train
    if not isinstance(split, PixelSplit):
        return Ending(refusal="the images are not in memory")
    images = split.pixels[split.targets == 2]
    if len(images) < 2:
        return Ending(notes=data.notes)
    # Sorted by name, the good one stands beside it; it is black, whatever its grey is.
    odd = next(image for image in images if int(image.max()) > 2)
    halves = (odd[:, :7].flatten(1), odd[:, 9:].flatten(1))
    return Ending(
        halves=tuple(tuple(half.double().mean(dim=1).round().int().tolist()) for half in halves),
        notes=data.notes,
    )


def is_named(case: Case, sentence: str) -> bool:
    """Whether the file is named in one line that a terminal shows as it is."""
    return sentence.isprintable() and f"/odd/{case.file} cannot be read as an image: " in sentence


def holds(case: Case, folder: Path) -> bool:
    """Whether it is decoded right; or named, and left out where that is asked for."""
    root = folder_with(case, folder)
    ending = loaded(case, root)
    if case.lower is not None:
        near = zip((*WHITE, *case.lower), sum(ending.halves, ()), strict=False)
        return len(ending.halves) == 2 and all(abs(one - other) <= 2 for one, other in near)
    capped = loaded(case, root, on_bad="skip")
    skipped = loaded(case, root, on_bad="skip", most_bad=0.25)
    aside = loaded(case, root, on_bad="quarantine", most_bad=0.25)
    count = re.compile("1 of 4 files ")
    return (
        all(count.match(one.refusal) and is_named(case, one.refusal) for one in (ending, capped))
        and all(
            count.match(one.notes[0]) and is_named(case, one.notes[1]) for one in (skipped, aside)
        )
        and os.path.lexists(root / "odd" / case.file)
        and is_named(case, (root / ".quarantine" / "bad_files.txt").read_text().removesuffix("\n"))
    )


def measure(folder: Path) -> Figures:
    held = [holds(case, folder / str(place)) for place, case in enumerate(CASES)]
    good = [case.lower is not None for case in CASES]
    return Figures(
        n=len(CASES),
        passed=sum(held),
        counts={
            "decoded right": sum(
                is_held for is_held, is_good in zip(held, good, strict=True) if is_good
            ),
            "named": sum(
                is_held for is_held, is_good in zip(held, good, strict=True) if not is_good
            ),
            "bad": good.count(False),
        },
    )


SCENARIO = Scenario(
    code="T18", title="broken images", measure=measure, least={"decoded right": 7, "named": 8}
)


def test_odd_images_are_decoded_right_and_bad_ones_named(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert (figures.n, figures.counts["named"], figures.counts["bad"]) == (15, 8, 8)


def test_a_bad_file_with_an_odd_name_breaks_no_terminal(tmp_path: Path) -> None:
    case = Case(name="both", make=as_file(b"text"), file=ODD_NAME)
    ending = loaded(case, folder_with(case, tmp_path))
    assert ending.refusal.isprintable()
    assert r"/odd/\x1b[31mtwo\nlines \u202egnp.猫\udcff.png cannot be read" in ending.refusal


def test_the_same_files_are_named_where_images_are_not_held_in_memory(tmp_path: Path) -> None:
    bad = [case for case in CASES if case.lower is None]
    for place, case in enumerate(bad):
        root = folder_with(case, tmp_path / str(place))
        refusal = loaded(case, root, memory=1e-9).refusal
        assert is_named(case, refusal)
        assert refusal == loaded(case, root).refusal
    assert len(bad) == 8


def test_planted_bug_of_truncated_images_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    assert measure(tmp_path).counts["named"] == 7


def test_planted_bug_of_photos_lying_on_their_side_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "upright", lambda image: image)
    assert measure(tmp_path).counts == {"decoded right": 6, "named": 8, "bad": 8}


def test_planted_bug_of_files_left_out_in_silence_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bad_files, "_named", lambda bad: "")
    assert measure(tmp_path).counts["named"] == 0
