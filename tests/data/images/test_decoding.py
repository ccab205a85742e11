"""Decoding: every mode and depth by hand, turned, resized, and what is refused."""

import io
import os
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import ExifTags, Image

from netwright.core.errors import DataError
from netwright.data.images import decoding
from netwright.data.images.decoding import (
    ImageForm,
    ImageMode,
    decode_content,
    decode_file,
    decode_image,
    read_content_header,
    read_header,
)
from tests.data.images.pictures import bytes_of, save

GREY = ImageForm(mode="L", height=2, width=3)
COLOUR = ImageForm(mode="RGB", height=2, width=3)
STEPS = np.array([[0, 50, 100], [150, 200, 250]], dtype=np.uint8)  # (2, 3)


def saved(tmp_path: Path, image: Image.Image, name: str = "x.png", **settings: Any) -> Path:
    image.save(tmp_path / name, **settings)
    return tmp_path / name


@pytest.mark.parametrize("ending", ["png", "bmp", "tif", "gif", "pgm", "webp"])
def test_grey_bytes_come_back_from_every_lossless_format(tmp_path: Path, ending: str) -> None:
    settings = {"lossless": True} if ending == "webp" else {}
    path = save(tmp_path / f"x.{ending}", STEPS, **settings)
    assert decode_file(path, GREY).tolist() == [STEPS.tolist()]


def test_colour_is_given_channels_first(tmp_path: Path) -> None:
    pixels = bytes_of(0, 2, 3, 3)
    path = save(tmp_path / "x.png", pixels)
    assert torch.equal(decode_file(path, COLOUR), torch.from_numpy(pixels).permute(2, 0, 1))
    assert decode_file(path, COLOUR).is_contiguous()


def test_colour_becomes_grey_by_brightness_and_grey_becomes_colour(tmp_path: Path) -> None:
    red = np.full((2, 3, 3), (255, 0, 0), dtype=np.uint8)
    assert torch.unique(decode_file(save(tmp_path / "x.png", red), GREY)).tolist() == [
        76
    ]  # .299 * 255
    grey = decode_file(save(tmp_path / "y.png", STEPS), COLOUR)
    assert grey.tolist() == [STEPS.tolist()] * 3


@pytest.mark.parametrize("order", ["<", ">"])
def test_sixteen_bits_are_divided_by_257(tmp_path: Path, order: str) -> None:
    # 257 * 255 is 65535; 128 rounds down, 129 up. Of the image itself nothing is asked.
    wide = np.array([[0, 128, 129], [257, 257 * 100, 65535]], dtype=f"{order}u2")
    path = saved(tmp_path, Image.fromarray(wide), "x.tif")
    assert decode_file(path, GREY).tolist() == [[[0, 0, 1], [1, 100, 255]]]


def test_whole_numbers_and_floats_have_their_own_range(tmp_path: Path) -> None:
    wide = Image.fromarray(np.array([[0, 257, 514], [1, 2, 65535]], dtype=np.int32))
    assert decode_file(saved(tmp_path, wide, "i.tif"), GREY)[0].tolist() == [[0, 1, 2], [0, 0, 255]]
    floats = Image.fromarray(np.array([[0, 0.2, 0.4], [0.6, 0.8, 1]], dtype=np.float32))
    assert decode_file(saved(tmp_path, floats, "f.tif"), GREY)[0, 1].tolist() == [153, 204, 255]


@pytest.mark.parametrize("value", [-0.5, 1.5, float("nan")])
def test_floats_outside_of_their_range_are_refused(value: float) -> None:
    image = Image.fromarray(np.full((2, 3), value, dtype=np.float32))
    sentence = f"its pixels must lie between 0 and 1, got {value:g} to {value:g}"
    with pytest.raises(DataError, match=f"^image cannot be read as an image: {sentence}$"):
        decode_image(image, GREY)


def test_one_bit_and_palettes_are_resolved(tmp_path: Path) -> None:
    bits = Image.fromarray(STEPS > 120)
    assert decode_file(saved(tmp_path, bits, "b.png"), GREY)[0].tolist() == [[0] * 3, [255] * 3]
    palette = Image.new("P", (3, 2), 1)
    palette.putpalette([9, 9, 9, 10, 20, 30])
    assert decode_file(saved(tmp_path, palette), COLOUR)[:, 0, 0].tolist() == [10, 20, 30]


@pytest.mark.parametrize(
    ("mode", "ending"),
    [("1", "png"), ("L", "png"), ("LA", "png"), ("I;16", "png"), ("I", "tiff"), ("F", "tiff")],
)
def test_the_header_tells_grey_from_colour(tmp_path: Path, mode: str, ending: str) -> None:
    assert read_header(saved(tmp_path, Image.new(mode, (3, 2)), f"x.{ending}")).is_grey
    for colour in ("RGB", "RGBA", "P"):
        assert not read_header(saved(tmp_path, Image.new(colour, (3, 2)), "y.png")).is_grey


def test_print_colours_become_red_green_and_blue(tmp_path: Path) -> None:
    ink = Image.new("CMYK", (3, 2), (0, 255, 255, 0))  # all of magenta and yellow is red
    assert decode_file(saved(tmp_path, ink, "x.tif"), COLOUR)[:, 0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_shows_white(tmp_path: Path, mode: str) -> None:
    if mode == "P":
        clear = Image.new("P", (3, 2), 1)
        clear.putpalette([9, 9, 9, 0, 0, 0])
        path = saved(tmp_path, clear, transparency=bytes([255, 0]))
    else:
        path = saved(tmp_path, Image.new("RGBA", (3, 2), (0, 0, 0, 0)).convert(mode))
    assert torch.unique(decode_file(path, COLOUR)).tolist() == [255]
    assert torch.unique(decode_file(path, GREY)).tolist() == [255]


def test_alpha_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    form = ImageForm(mode="RGBA", height=2, width=3)
    path = saved(tmp_path, Image.new("RGBA", (3, 2), (10, 20, 30, 40)))
    assert decode_file(path, form)[:, 0, 0].tolist() == [10, 20, 30, 40]
    assert torch.unique(decode_file(save(tmp_path / "y.png", STEPS), form)[3]).tolist() == [255]


@pytest.mark.parametrize("ending", ["png", "tif", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_way_to_hold_a_camera_is_undone(
    tmp_path: Path, ending: str, orientation: int
) -> None:
    # As the EXIF standard has it: where the rows and columns of the file stand in the scene.
    stored = {
        1: STEPS,
        2: np.fliplr(STEPS),
        3: np.rot90(STEPS, 2),
        4: np.flipud(STEPS),
        5: STEPS.T,
        6: np.rot90(STEPS),  # turned clockwise to be seen
        7: np.rot90(STEPS, 2).T,
        8: np.rot90(STEPS, -1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    settings = {"lossless": True} if ending == "webp" else {}
    image = Image.fromarray(np.ascontiguousarray(stored))
    path = saved(tmp_path, image, f"x.{ending}", exif=exif, **settings)
    assert decode_file(path, GREY)[0].tolist() == STEPS.tolist()
    assert (read_header(path).height, read_header(path).width) == (2, 3)


def test_a_damaged_note_on_the_camera_says_nothing(tmp_path: Path) -> None:
    image = Image.fromarray(STEPS)
    good = saved(tmp_path, image, "good.jpg")
    for damaged in (b"Exif\0\0nonsense", b"Exif\0\0II*\0\x08\0\0\0\xff\xff\x12\x01", b"Exif\0\0"):
        path = saved(tmp_path, image, "bad.jpg", exif=damaged)
        assert torch.equal(decode_file(path, GREY), decode_file(good, GREY))


@pytest.mark.parametrize("ending", ["gif", "tif", "png"])
def test_of_several_frames_the_first_is_read(tmp_path: Path, ending: str) -> None:
    first, second = Image.fromarray(STEPS), Image.fromarray(255 - STEPS)
    path = saved(tmp_path, first, f"x.{ending}", save_all=True, append_images=[second])
    assert decode_file(path, GREY)[0].tolist() == STEPS.tolist()
    assert read_header(path).has_frames
    assert not read_header(saved(tmp_path, first, f"one.{ending}")).has_frames


def test_sizes_are_changed_as_asked() -> None:
    # Left half black, right half white, twice as wide as high.
    image = Image.fromarray(np.repeat([[0, 255]], 4, axis=0).repeat(4, axis=1).astype(np.uint8))
    square = {
        how: decode_image(image, ImageForm(mode="L", height=4, width=4, resize=how))[0]
        for how in ("squash", "crop", "pad")
    }
    # Squashed and cropped, the border stays in the middle; the crop keeps every pixel as it was.
    assert square["crop"].tolist() == [[0, 0, 255, 255]] * 4
    assert square["squash"][:, [0, 3]].tolist() == [[0, 255]] * 4
    assert torch.unique(square["pad"][[0, 3]]).tolist() == [0]  # two rows of border, black
    assert square["pad"][1:3, 3].tolist() == [255, 255]


@pytest.mark.parametrize("factor", [32, 4])  # an eighth is enough of the larger one alone
def test_a_large_jpeg_is_decoded_small_and_right(tmp_path: Path, factor: int) -> None:
    coarse = Image.fromarray(bytes_of(0, 6, 8, 3)).resize((16, 12))
    path = saved(tmp_path, coarse.resize((16 * factor, 12 * factor)), "x.jpg", quality=95)
    form = ImageForm(mode="RGB", height=12, width=16)
    whole = np.asarray(Image.open(path).resize((16, 12), Image.Resampling.BILINEAR), dtype=float)
    difference = decode_file(path, form).permute(1, 2, 0).numpy() - whole
    assert abs(difference).mean() < 2  # of 255


def header_of(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds nothing."""
    whole = io.BytesIO()
    Image.new("L", (1, 1)).save(whole, "png")
    size = struct.pack(">II", width, height)
    chunk = b"IHDR" + size + whole.getvalue()[24:29]
    sum_of_it = struct.pack(">I", zlib.crc32(chunk))
    return whole.getvalue()[:12] + chunk + sum_of_it + whole.getvalue()[33:]


@pytest.mark.parametrize(
    ("size", "reason"),
    [  # pillow itself refuses the first and would only warn of the second
        ((50_000, 50_000), "its header claims more pixels than pillow accepts"),
        (
            (12_000, 12_000),
            "its header claims 144 million pixels, at most 134.2 million pixels are allowed; if "
            "you trust it, raise NETWRIGHT_MAX_MEGAPIXELS",
        ),
    ],
)
def test_a_huge_claim_is_refused_before_anything_is_decoded(
    tmp_path: Path, size: tuple[int, int], reason: str
) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(header_of(*size))
    sentence = f"{path} cannot be read as an image: {reason}"
    for read in (read_header, lambda file: decode_file(file, GREY)):
        with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
            read(path)


def test_the_limit_of_pixels_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_MAX_MEGAPIXELS", "1")
    path = tmp_path / "x.png"
    path.write_bytes(header_of(1000, 1000))
    assert (read_header(path).height, read_header(path).width) == (1000, 1000)
    path.write_bytes(header_of(101, 9901))  # one pixel more than a million
    with pytest.raises(DataError, match="raise NETWRIGHT_MAX_MEGAPIXELS"):
        read_header(path)


def test_a_very_large_image_within_the_limit_is_read_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 4)  # six pixels are a warning now
    path = save(tmp_path / "x.png", STEPS)
    assert decode_file(path, GREY)[0].tolist() == STEPS.tolist()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"no image", "it is none of PNG, JPEG, GIF, BMP, DIB, TIFF, WEBP, PPM, "),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "it is none of PNG"),
    ],
)
def test_what_is_no_image_is_refused_by_its_name(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "two\nlines.jpg"
    path.write_bytes(content)
    start = f"{tmp_path}/two\\nlines.jpg cannot be read as an image: {reason}"
    with pytest.raises(DataError, match=f"^{re.escape(start)}"):
        decode_file(path, GREY)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.png")
    with pytest.raises(DataError, match=r"x.png cannot be read .* it is not a regular file$"):
        decode_file(tmp_path / "x.png", GREY)


def test_damage_anywhere_in_a_png_is_seen(tmp_path: Path) -> None:
    path = save(tmp_path / "x.png", bytes_of(0, 8, 8))
    whole = path.read_bytes()
    unseen = []
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            decode_file(path, ImageForm(mode="L", height=8, width=8))
        except DataError:
            continue
        unseen.append(place)
    assert unseen == list(range(len(whole) - 12, len(whole) - 8)) + list(
        range(len(whole) - 4, len(whole))
    )  # the length and the sum of the empty last chunk


def test_a_form_that_no_model_takes_is_refused() -> None:
    with pytest.raises(DataError) as refusal:
        ImageForm(mode="RGB", height=60_000, width=60_000)
    assert str(refusal.value) == (
        "an image of 60000 x 60000 holds 10,800,000,000 numbers, at most 67,108,864 numbers are "
        "allowed; if you trust it, raise NETWRIGHT_MAX_INPUT_NUMBERS"
    )


@pytest.mark.parametrize("mode", ["L", "RGB"])
@pytest.mark.parametrize("kind", ["RGBA", "LA", "P", "I;16", "I", "F"])
def test_large_images_are_changed_in_bands_to_the_same_bytes(
    kind: str, mode: ImageMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind in {"RGBA", "LA"}:
        image = Image.fromarray(bytes_of(0, 37, 29, 4)).convert(kind)
    elif kind == "P":
        image = Image.fromarray(bytes_of(0, 37, 29, 3)).convert("P")
        image.info["transparency"] = 3
    else:
        values = np.linspace(0, 1 if kind == "F" else 65535, 37 * 29).reshape(37, 29)
        dtype = {"F": np.float32, "I": np.int32, "I;16": np.uint16}[kind]
        image = Image.fromarray(values.astype(dtype))
    assert image.mode == kind
    form = ImageForm(mode=mode, height=37, width=29)
    whole = decode_image(image, form)
    monkeypatch.setattr(decoding, "BAND", 64)
    assert torch.equal(decode_image(image, form), whole)
    assert len(set(whole.flatten().tolist())) > 2


def test_no_band_of_a_large_image_has_more_pixels_than_a_band_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []

    def watched(band: Image.Image) -> Image.Image:
        sizes.append(band.width * band.height)
        return band

    monkeypatch.setattr(decoding, "_on_white", watched)
    monkeypatch.setattr(decoding, "BAND", 64)
    decode_image(Image.new("RGBA", (29, 37)), ImageForm(mode="RGB", height=37, width=29))
    assert sum(sizes) == 29 * 37
    assert max(sizes) <= 64


def test_an_image_that_takes_more_than_the_room_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, Image.new("RGBA", (500, 500)), "x.png")
    monkeypatch.setenv("NETWRIGHT_MAX_DECODING_GB", "0.001")
    with pytest.raises(DataError) as refusal:
        decode_file(path, GREY)
    assert str(refusal.value) == (
        f"{path} cannot be read as an image: it takes 0.00125 GB, at most 0.001 GB are allowed; "
        "if you trust it, raise NETWRIGHT_MAX_DECODING_GB"
    )
    progressive = saved(tmp_path, Image.new("RGB", (500, 500)), "x.jpg", progressive=True)
    with pytest.raises(DataError, match="raise NETWRIGHT_MAX_DECODING_GB"):
        decode_file(progressive, GREY)
    decode_file(saved(tmp_path, Image.new("RGB", (500, 500)), "y.jpg"), GREY)  # decoded small


def test_an_image_to_be_turned_takes_its_room_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, turned = Image.new("RGB", (500, 500)), Image.Exif()
    turned[ExifTags.Base.Orientation] = 6
    upright_path = saved(tmp_path, image, "x.png")
    turned_path = saved(tmp_path, image, "y.png", exif=turned)
    monkeypatch.setenv("NETWRIGHT_MAX_DECODING_GB", "0.001")  # 500 x 500 pixels of four bytes
    assert decode_file(upright_path, COLOUR).shape == (3, 2, 3)
    with pytest.raises(DataError, match=r"y.png .* it takes 0.002 GB, at most 0.001 GB"):
        decode_file(turned_path, COLOUR)


def test_the_bytes_of_a_file_are_decoded_as_the_file_is(tmp_path: Path) -> None:
    form = ImageForm(mode="L", height=6, width=5)
    for ending in (".png", ".jpg", ".gif"):
        file = save(tmp_path / f"x{ending}", bytes_of(3, 40, 30))
        assert torch.equal(decode_content(file.read_bytes(), form), decode_file(file, form))
        assert read_content_header(file.read_bytes()) == read_header(file)


def test_bytes_that_are_no_image_or_take_too_much_are_refused(tmp_path: Path) -> None:
    form = ImageForm(mode="L", height=6, width=5)
    content = save(tmp_path / "x.png", bytes_of(3, 40, 30, 3)).read_bytes()
    needed = 40 * 30 * (4 + 1)
    assert decode_content(content, form, most=needed).shape == (1, 6, 5)
    with pytest.raises(DataError, match="photo cannot be read as an image: it takes 0 MB"):
        decode_content(content, form, "photo", most=needed - 1)
    for wrong in (b"", b"x", content[:50], content[:-20]):
        with pytest.raises(DataError, match="photo cannot be read as an image"):
            decode_content(wrong, form, "photo")
