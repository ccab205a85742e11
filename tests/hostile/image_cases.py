"""Images: heads that promise too much, files that are none, folders with odd things in them."""

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import cache

from PIL import Image

from tests.hostile.case import Case, End, Place
from tests.hostile.edits import CONTROL, GARBAGE, fifo, folder, link, write

TRAIN = (
    "train cnn photos --epochs 1 --set model.channels=4 --set model.hidden=4 --no-report --quiet"
)
BAD = "photos/dark/bad.png"


def chunk(kind: bytes, content: bytes) -> bytes:
    """A part of a PNG file, with its sum."""
    sum_ = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + sum_


def png(width: int, height: int, *more: bytes, pixels: bytes = b"", depth: int = 8) -> bytes:
    """A gray PNG file of any size, with the pixels that are given, packed."""
    head = struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)
    body = chunk(b"IDAT", pixels or zlib.compress(bytes(64)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(more) + body + chunk(b"IEND", b"")


@cache
def _large(side: int) -> bytes:
    """A black PNG of so many rows and columns, in a thousandth of its size."""
    return png(side, side, pixels=zlib.compress(bytes((side + 1) * side), 1))


def saved(kind: str, image: Image.Image | None = None, **options: object) -> bytes:
    content = io.BytesIO()
    (image or Image.new("RGB", (8, 8))).save(content, kind, **options)
    return content.getvalue()


def _animated() -> bytes:
    frames = [Image.new("P", (8, 8), shade) for shade in range(200)]
    return saved("GIF", frames[0], save_all=True, append_images=frames[1:])


def _exif(count: int) -> bytes:
    """A JPEG whose EXIF says that an entry has so many values."""
    tiff = b"II*\x00\x08\x00\x00\x00" + struct.pack("<H", 1)
    entry = struct.pack("<HHII", 0x0112, 3, count, 8)
    return saved("JPEG", exif=b"Exif\x00\x00" + tiff + entry + b"\x08\x00\x00\x00")


def _text_bomb() -> bytes:
    return chunk(b"zTXt", b"k\x00\x00" + zlib.compress(bytes(80_000_000), 9))


FILES: dict[str, tuple[str, Callable[[], bytes], End]] = {
    "an empty file": ("bad.png", lambda: b"", "either"),
    "garbage": ("bad.png", lambda: GARBAGE, "either"),
    "the wrong magic bytes": ("bad.png", lambda: b"\x89PNX" + GARBAGE, "either"),
    "a PNG that is cut off": ("bad.png", lambda: saved("PNG")[:40], "either"),
    "a JPEG that is cut off": ("bad.jpg", lambda: saved("JPEG")[:200], "either"),
    "a JPEG called .png": ("bad.png", lambda: saved("JPEG"), "either"),
    "a page of HTML called .jpg": ("bad.jpg", lambda: b"<html><script>x</script>", "either"),
    "an SVG called .png": (
        "bad.png",
        lambda: b"<svg xmlns='x'><image href='/etc/passwd'/>",
        "either",
    ),
    "PostScript called .png": ("bad.png", lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n(x) run\n", "either"),
    "a head of 60,000 x 60,000": ("bad.png", lambda: png(60_000, 60_000), "either"),
    "a head of 2^31 x 2^31": ("bad.png", lambda: png(2**31 - 1, 2**31 - 1), "either"),
    "a head of 0 x 0": ("bad.png", lambda: png(0, 0), "either"),
    "a head of 1 x 10,000,000": ("bad.png", lambda: png(1, 10_000_000), "either"),
    "a chunk of 2^31 bytes": (
        "bad.png",
        lambda: saved("PNG")[:33] + struct.pack(">I", 2**31 - 1) + b"IDAT" + GARBAGE,
        "either",
    ),
    "a text of 80 MB in a PNG": ("bad.png", lambda: png(8, 8, _text_bomb()), "either"),
    "a profile of 80 MB in a PNG": (
        "bad.png",
        lambda: png(8, 8, chunk(b"iCCP", b"p\x00\x00" + zlib.compress(bytes(80_000_000), 9))),
        "either",
    ),
    "200 frames": ("bad.gif", _animated, "either"),
    "a palette that is too short": (
        "bad.png",
        lambda: saved("PNG", Image.new("P", (8, 8), 255)),
        "either",
    ),
    "16 bits a pixel": ("bad.png", lambda: saved("PNG", Image.new("I;16", (8, 8))), "either"),
    "one bit a pixel": ("bad.png", lambda: saved("PNG", Image.new("1", (8, 8))), "either"),
    "transparent pixels": ("bad.png", lambda: saved("PNG", Image.new("RGBA", (8, 8))), "either"),
    "four inks": ("bad.jpg", lambda: saved("JPEG", Image.new("CMYK", (8, 8))), "either"),
    "floats": ("bad.tif", lambda: saved("TIFF", Image.new("F", (8, 8))), "either"),
    "an EXIF entry of 2^31 values": ("bad.jpg", lambda: _exif(2**31), "either"),
    "an EXIF orientation of 255": ("bad.jpg", lambda: _exif(1), "either"),
    "a TIFF whose directory is itself": (
        "bad.tif",
        lambda: b"II*\x00\x08\x00\x00\x00\x00\x00\x08\x00\x00\x00" + GARBAGE,
        "either",
    ),
    "a BMP of 2^31 colours": (
        "bad.bmp",
        lambda: saved("BMP")[:46] + struct.pack("<I", 2**31 - 1) + saved("BMP")[50:],
        "either",
    ),
    "a name of escape codes": (f"bad{CONTROL}.png", lambda: b"x", "either"),
    "a name that is no UTF-8": ("bad\udcff.png", lambda: b"x", "either"),
}


def files() -> Iterator[Case]:
    """One bad file among good ones."""
    for name, (file, content, end) in FILES.items():

        def make(place: Place, file: str = file, content: Callable[[], bytes] = content) -> None:
            place.copy("photos", to="photos")
            write(place.work / "photos" / "dark" / file, content())

        yield Case(
            kind="images: files",
            name=f"an image with {name}",
            make=make,
            commands=(TRAIN,),
            end=end,
        )
    for name in (
        "garbage",
        "a head of 60,000 x 60,000",
        "a name of escape codes",
        "a text of 80 MB in a PNG",
    ):
        file, content, _ = FILES[name]

        def asked(place: Place, file: str = file, content: Callable[[], bytes] = content) -> None:
            place.copy("images")
            write(place.work / file, content())

        yield Case(
            kind="images: files",
            name=f"an image to predict with {name}",
            make=asked,
            commands=(f"predict run '{file}'",),
            end="either" if "text" in name else "refused",
        )


def bombs() -> Iterator[Case]:
    """Images of which each is allowed, and all together are too much."""

    def many(place: Place) -> None:
        for name in ("dark", "light"):
            for number in range(4):
                write_new(place, f"photos/{name}/{number}.png", _large(11_000))

    def to_predict(place: Place) -> None:
        place.copy("images")
        for number in range(8):
            write_new(place, f"new/{number}.png", _large(11_000))

    def one(place: Place) -> None:
        place.copy("images")
        write_new(place, "new/0.png", _large(13_000))

    def pairs(place: Place) -> None:
        for number in range(8):
            write_new(place, f"pairs/images/{number}.png", _large(11_000))
            write_new(place, f"pairs/masks/{number}.png", _large(11_000))

    made: dict[str, tuple[Callable[[Place], None], str, End]] = {  # the quickest first: each time
        "eight masks of 11,000 x 11,000": (pairs, "train unet pairs --epochs 1 -q", "refused"),
        "eight images of 11,000 x 11,000": (many, TRAIN, "either"),
        "eight images of 11,000 x 11,000 to predict": (to_predict, "predict run new", "either"),
        "an image of 13,000 x 13,000 alone": (one, "predict run new", "refused"),
    }
    for name, (make, command, end) in made.items():
        yield Case(kind="images: bombs", name=name, make=make, commands=(command,), end=end)


def write_new(place: Place, name: str, content: bytes) -> None:
    """A file in a folder that is made where it is not there."""
    path = place.work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, content)


def _named_so(place: Place) -> None:
    photos = place.work / "photos"
    (photos / "light").rename(photos / f"light{CONTROL}")


def _many_folders(place: Place) -> None:
    for number in range(5_000):
        (place.work / "photos" / "dark" / str(number)).mkdir()


def folders() -> Iterator[Case]:
    """Odd things in a folder of images."""

    def with_(how: Callable[[Place], None]) -> Callable[[Place], None]:
        def make(place: Place) -> None:
            place.copy("photos", to="photos")
            how(place)

        return make

    made: dict[str, Callable[[Place], None]] = {
        "a link to a device": lambda place: link(place.work / BAD, "/dev/zero"),
        "a link to itself": lambda place: link(place.work / BAD, "bad.png"),
        "a dangling link": lambda place: link(place.work / BAD, "nothing"),
        "a link to a secret": lambda place: link(place.work / BAD, place.outside / "secret.txt"),
        "a pipe": lambda place: fifo(place.work / BAD),
        "a folder called .png": lambda place: folder(place.work / BAD),
        "a class that is a link to a folder": lambda place: link(
            place.work / "photos" / "third", place.outside / "folder"
        ),
        "a class that is a link to its parent": lambda place: link(
            place.work / "photos" / "third", "."
        ),
        "a class of escape codes": _named_so,
        "folders 300 deep": lambda place: (
            place.work / "photos" / "dark" / "/".join("d" * 300)
        ).mkdir(parents=True),
        "5,000 empty folders": _many_folders,
    }
    for name, how in made.items():
        yield Case(
            kind="images: folders",
            name=f"a folder of images with {name}",
            make=with_(how),
            commands=(TRAIN,),
            end="either",
        )


def cases() -> Iterator[Case]:
    """All of this file."""
    yield from files()
    yield from bombs()
    yield from folders()
