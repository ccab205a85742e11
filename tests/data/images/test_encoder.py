"""The image encoder: pictures from everywhere, targets of every kind, and what it refuses."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from netwright.core.errors import DataError, NetwrightError, ShapeError
from netwright.data.images.encoder import ImageEncoder
from tests.data.images.pair_pictures import mask_of, picture, write_pairs
from tests.data.images.pictures import bytes_of, folder_of, save
from tests.repetition import for_each

COLOUR = ImageEncoder(
    input_shape=(3, 4, 5),
    mode="RGB",
    target="class",
    num_outputs=2,
    class_names=("cat", "dog"),
    mean=(0.5, 0.4, 0.3),
    scale=(0.25, 0.5, 1.0),
)
GREY = ImageEncoder(
    input_shape=(1, 4, 4),
    mode="L",
    target="class",
    num_outputs=2,
    class_names=("cat", "dog"),
    mean=(0.0,),
    scale=(1.0,),
)


@pytest.mark.covers("image-representation")
def test_channels_last_or_first_scaled_and_back() -> None:
    last = bytes_of(0, 6, 4, 5, 3)  # (N, I, J, C), as cameras and pillow have it
    first = np.ascontiguousarray(last.transpose(0, 3, 1, 2))
    encoded = COLOUR.encode(last)
    assert torch.equal(encoded, COLOUR.encode(first))
    by_hand = (first[2, 1, 3, 4] / 255 - 0.4) / 0.5
    assert float(encoded[2, 1, 3, 4]) == pytest.approx(by_hand, abs=1e-6)
    assert torch.equal(COLOUR.scaling.decode(encoded), torch.from_numpy(first))
    offset, scale = COLOUR.units()
    raw = encoded.flatten(1).double() * scale + offset
    torch.testing.assert_close(raw, torch.from_numpy(first).flatten(1).double(), atol=1e-4, rtol=0)


@pytest.mark.covers("image-representation")
def test_all_bytes_go_to_the_unit_interval_and_back() -> None:
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 4, 4)
    encoded = GREY.encode(ramp)
    torch.testing.assert_close(encoded.flatten(), torch.arange(256) / 255)
    assert torch.equal(GREY.scaling.decode(encoded).flatten(), torch.arange(256).byte())


def test_files_folders_and_pillow_images_are_the_same_pictures(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "cat/1.png", "dog/2.png")
    files = [root / "cat/1.png", root / "dog/2.png"]
    wanted = torch.from_numpy(np.stack([bytes_of(0, 4, 4), bytes_of(1, 4, 4)]))[:, None]
    images = [Image.fromarray(bytes_of(seed, 4, 4)) for seed in (0, 1)]
    for source in (root, str(root), files, tuple(map(str, files)), images, wanted, wanted[:, 0]):
        assert torch.equal(GREY.read(source), wanted)
    for one in (files[0], images[0], [files[0]]):
        assert torch.equal(GREY.read(one), wanted[:1])
    torch.testing.assert_close(GREY.encode(root), wanted / 255)


def test_pictures_of_other_sizes_and_modes_are_brought_to_this_one(tmp_path: Path) -> None:
    path = save(tmp_path / "x.png", bytes_of(0, 9, 7, 4))
    assert COLOUR.read(path).shape == (1, 3, 4, 5)
    assert GREY.read(path).shape == (1, 1, 4, 4)


def test_reading_copies_what_it_is_given() -> None:
    source = np.zeros((1, 4, 4), dtype=np.uint8)
    source.flags.writeable = False
    GREY.read(source).fill_(1)
    assert not source.any()


def test_a_cube_is_taken_channels_first() -> None:
    cube = ImageEncoder(
        input_shape=(3, 3, 3),
        mode="RGB",
        target="real",
        num_outputs=1,
        mean=(0.0,) * 3,
        scale=(1.0,) * 3,
    )
    pixels = bytes_of(0, 2, 3, 3, 3)
    assert torch.equal(cube.read(pixels), torch.from_numpy(pixels))


def test_json_gives_the_same_encoder_back() -> None:
    for encoder in (COLOUR, GREY):
        assert ImageEncoder.from_json(json.loads(json.dumps(encoder.to_json()))) == encoder


def test_the_spec_says_what_a_model_needs() -> None:
    spec = COLOUR.spec
    assert (spec.inputs, spec.input_shape, spec.target) == ("image", (3, 4, 5), "class")
    assert (spec.num_outputs, spec.class_names) == (2, ("cat", "dog"))


def of_kind(target: Any, num_outputs: int, **settings: Any) -> ImageEncoder:
    return ImageEncoder(
        input_shape=(1, 2, 2),
        mode="L",
        target=target,
        num_outputs=num_outputs,
        mean=(0.0,),
        scale=(1.0,),
        **settings,
    )


def test_targets_follow_their_kind() -> None:
    assert GREY.encode_targets(["dog", "cat"]).tolist() == [1, 0]
    assert of_kind("labels", 2).encode_targets([[0, 1]]).tolist() == [[0.0, 1.0]]
    assert of_kind("real", 1).encode_targets([0.5, 2]).tolist() == [[0.5], [2.0]]
    masks = of_kind("mask", 3).encode_targets([[[0, 1], [2, 0]]])
    assert masks.dtype is torch.uint8
    assert masks.tolist() == [[[0, 1], [2, 0]]]


def test_folders_name_the_classes_of_their_images(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "dog/1.png", "cat/deep/2.png", "dog/3.png")
    assert GREY.encode_targets(root).tolist() == [0, 1, 1]
    folder_of(root, "cow/4.png")
    with pytest.raises(
        DataError, match=r"^the folders have an unknown label 'cow' in row 1; there are cat, dog$"
    ):
        GREY.encode_targets(root)


def test_a_table_names_the_targets_of_its_images(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "b.png", "a.png")
    (root / "metadata.csv").write_text("file_name,score\nb.png,2.5\na.png,1.5\n")
    encoder = of_kind("real", 1, target_names=("score",))
    assert encoder.encode_targets(root).tolist() == [[1.5], [2.5]]  # files go by their names


def test_decoding_tells_of_each_channel() -> None:
    pixels = np.zeros((1, 4, 4), dtype=np.uint8)
    pixels[0, 0] = 200
    assert GREY.decode(GREY.encode(pixels)) == [{"L": "50 (0 to 200)"}]
    assert list(COLOUR.decode(torch.zeros(1, 3, 4, 5))[0]) == ["R", "G", "B"]


@for_each(
    ("source", "sentence"),
    [
        (
            np.zeros((2, 3, 4, 5)),
            "images must be paths, pillow images or bytes (uint8) from 0 to 255, got float64",
        ),
        ([], "images must be paths, pillow images or bytes (uint8) from 0 to 255, got float64"),
        (
            ["x.png", 3],
            "images must be paths, pillow images or bytes (uint8) from 0 to 255, got <U21",
        ),
        (
            np.zeros((2, 4, 4, 3), dtype=np.uint8),
            "images must have shape (N, 3, 4, 5) or (N, 4, 5, 3), got (2, 4, 4, 3)",
        ),
        (
            np.zeros((3, 4, 5), dtype=np.uint8),
            "images must have shape (N, 3, 4, 5) or (N, 4, 5, 3), got (3, 4, 5)",
        ),
        (
            ["nowhere.png"],
            "nowhere.png cannot be read as an image: No such file or directory",
        ),
        (
            ["nowhere.png", "nor_here.png"],
            "nowhere.png cannot be read as an image: No such file or directory",
        ),
    ],
)
def test_refuses_what_is_no_picture(source: Any, sentence: str) -> None:
    with pytest.raises(NetwrightError, match=f"^{re.escape(sentence)}$"):
        COLOUR.encode(source)


def test_a_mask_may_hold_one_class_alone() -> None:
    encoder = of_kind("mask", 2)
    for place in (0, 1):
        mask = np.full((1, 2, 2), place)
        assert encoder.encode_targets(mask).tolist() == mask.tolist()
    assert encoder.encode_targets(np.zeros((0, 2, 2), dtype=int)).shape == (0, 2, 2)


def test_refuses_masks_that_do_not_fit() -> None:
    encoder = of_kind("mask", 2)
    with pytest.raises(DataError, match=r"^masks must hold classes from 0 to 1, got -1 to 0$"):
        encoder.encode_targets([[[0, -1], [0, 0]]])
    with pytest.raises(DataError, match=r"^masks must hold classes from 0 to 1, got 0 to 2$"):
        encoder.encode_targets([[[0, 1], [2, 0]]])
    sentence = "masks must be whole numbers of shape (N, 2, 2), got int64 (1, 2)"
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        encoder.encode_targets([[0, 1]])


def test_refuses_targets_that_a_folder_does_not_hold(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "cat/1.png")
    with pytest.raises(DataError, match=r"has no labels for its images, wanted a folder with"):
        of_kind("real", 1).encode_targets(root)
    with pytest.raises(DataError, match=r"has no labels for its images, wanted a folder of"):
        GREY.encode_targets(root / "cat/1.png")


def test_refuses_channels_that_do_not_agree() -> None:
    with pytest.raises(
        ShapeError,
        match=r"^mode, mean and scale must match the 3 channels of an image, got L, 3 and 3$",
    ):
        ImageEncoder(
            input_shape=(3, 2, 2),
            mode="L",
            target="real",
            num_outputs=1,
            mean=(0.0,) * 3,
            scale=(1.0,) * 3,
        )


def of_masks(**settings: Any) -> ImageEncoder:
    return ImageEncoder(
        input_shape=(1, 8, 6),
        mode="L",
        target="mask",
        num_outputs=2,
        mean=(0.0,),
        scale=(1.0,),
        mask_values=(0, 255),
        **settings,
    )


def test_a_folder_of_pairs_gives_images_and_their_masks(tmp_path: Path) -> None:
    encoder = of_masks()
    write_pairs(tmp_path / "train", range(3))
    write_pairs(tmp_path / "test", range(3, 5))
    images = np.stack([picture(place) for place in range(5)])
    assert np.array_equal(encoder.read(tmp_path)[:, 0].numpy(), images)
    masks = encoder.encode_targets(tmp_path)
    assert masks.dtype is torch.uint8
    assert np.array_equal(masks.numpy(), images > 127)
    assert np.array_equal(encoder.decode_masks(masks.numpy()), 255 * (images > 127))
    assert encoder.files(tmp_path / "test" / "images") == [
        tmp_path / "test/images/3.png",
        tmp_path / "test/images/4.png",
    ]
    assert ImageEncoder.from_json(json.loads(json.dumps(encoder.to_json()))) == encoder


def test_refuses_masks_of_values_that_were_not_learned_from(tmp_path: Path) -> None:
    write_pairs(tmp_path, range(2))
    Image.fromarray(mask_of(picture(1)) // 2).save(tmp_path / "masks/1.png")
    sentence = f"{tmp_path}/masks/1.png holds the value 127, the training masks have 0, 255"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        of_masks().encode_targets(tmp_path)


def test_refuses_a_folder_without_masks(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "cat/1.png")
    sentence = f"{root} has no labels for its images, wanted a folder of images and masks"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        of_masks().encode_targets(root)


def test_refuses_mask_files_where_their_values_were_not_kept(tmp_path: Path) -> None:
    values = of_masks().to_json()
    del values["mask_values"]
    old = ImageEncoder.from_json(values)
    sentence = "the values of the masks are not recorded: train the run again"
    with pytest.raises(DataError, match=f"^{sentence}$"):
        old.encode_targets(write_pairs(tmp_path, range(2)))
    with pytest.raises(DataError, match=f"^{sentence}$"):
        old.decode_masks(np.zeros((1, 8, 6), np.uint8))


@for_each(
    ("changes", "sentence"),
    [
        ({"input_shape": (1, -4, -4)}, "input_shape of a saved encoder must be positive, got -4"),
        ({"input_shape": (1, 10**5, 10**5)}, "an example holds 10,000,000,000 numbers"),
        ({"scale": (0.0,)}, "scale of a saved encoder must be positive, got 0"),
        ({"mask_values": (0,)}, "mask_values of a saved encoder must have 2 entries, got 1"),
    ],
)
def test_numbers_that_no_training_gives_are_refused(changes: dict[str, Any], sentence: str) -> None:
    for encoder in (COLOUR, GREY, of_masks()):
        encoder.check_numbers()
    with pytest.raises(DataError, match=f"^{sentence}"):
        replace(GREY, **changes).check_numbers()
