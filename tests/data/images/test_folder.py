"""A folder as data: form, parts, scaling and notes; in memory or not, the same images."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data
from netwright.data.images import reading
from netwright.data.images.decoding import ImageForm, decode_file
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.folder import ImageFolderConfig, load_image_folder
from netwright.data.loading.stored import StoredSplit
from netwright.data.pixels import PixelSplit
from netwright.recipes.plan.recipe import data_section
from tests.data.images.pictures import bytes_of, folder_of, save

NAMES = [f"{kind}/{place}.png" for kind in ("cat", "dog") for place in range(10)]


def loaded(root: Path, **settings: Any) -> Data:
    return load_image_folder(ImageFolderConfig(path=str(root), **settings))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return folder_of(tmp_path / "pets", *NAMES)


def test_a_folder_of_classes_is_divided_class_by_class(root: Path) -> None:
    data = loaded(root)
    assert (data.name, data.spec.class_names) == ("pets", ("cat", "dog"))
    assert data.spec.input_shape == (1, 4, 4)
    assert {name: len(split) for name, split in data.splits()} == {
        "train": 14,
        "val": 2,
        "test": 4,
    }
    assert [int(split.targets.sum()) for _, split in data.splits()] == [7, 1, 2]
    assert data.notes == (
        "every image is 4 x 4, L",
        "images: 14 train, 2 val, 4 test (held out at random, stratified by class)",
    )


def test_every_image_is_held_as_bytes_beside_its_class(root: Path) -> None:
    split = loaded(root, val_size=0, test_size=0).train
    assert isinstance(split, PixelSplit)
    for place, name in enumerate(NAMES):
        wanted = decode_file(root / name, ImageForm(mode="L", height=4, width=4))
        assert torch.equal(split.pixels[place], wanted)
        assert int(split.targets[place]) == name.startswith("dog")


def test_what_does_not_fit_in_memory_is_the_same_data(root: Path) -> None:
    for normalize in ("imagenet", "train"):
        held, kept = (
            loaded(root, memory=memory, normalize=normalize) for memory in (1.0, 300 / 2**30)
        )
        assert held.preprocessor == kept.preprocessor
        assert set(kept.notes) - set(held.notes) == {
            "the images take 2.98e-07 GiB, more than memory=2.79397e-07: they are decoded batch "
            "by batch; train.workers=N speeds this up"
        }
        for (_, one), (_, other) in zip(held.splits(), kept.splits(), strict=True):
            assert isinstance(other, StoredSplit)
            assert torch.equal(one.targets, other.targets)
            torch.testing.assert_close(one.inputs, other.inputs)


def test_the_limit_of_memory_is_that_of_all_bytes(root: Path) -> None:
    size = len(NAMES) * 16
    assert isinstance(loaded(root, memory=size / 2**30).train, PixelSplit)
    assert isinstance(loaded(root, memory=(size - 1) / 2**30).train, StoredSplit)


def test_training_images_alone_set_mean_and_scale(root: Path) -> None:
    data = loaded(root, normalize="train")
    inputs = data.train.inputs
    torch.testing.assert_close(inputs.mean(), torch.tensor(0.0), atol=1e-5, rtol=0)
    torch.testing.assert_close(inputs.std(correction=0), torch.tensor(1.0))
    assert float(loaded(root, normalize="none").train.inputs.max()) <= 1


def test_one_size_is_kept_and_many_become_one(root: Path) -> None:
    save(root / "cat/wide.png", bytes_of(0, 3, 9, 3))
    data = loaded(root)
    assert data.spec.input_shape == (3, 224, 224)
    assert data.notes[0] == "images of 3 x 9 to 4 x 4 are resized to 224 x 224 (squash), RGB"
    assert loaded(root, size=6, mode="L").spec.input_shape == (1, 6, 6)
    assert loaded(root, size=(5, 7)).spec.input_shape == (3, 5, 7)
    with pytest.raises(ConfigError, match=r"^size must be height and width, got 3 numbers$"):
        loaded(root, size=(1, 2, 3))


def test_images_are_resized_as_the_setting_says(root: Path) -> None:
    save(root / "cat/wide.png", np.full((4, 8, 3), 255, dtype=np.uint8))
    padded = loaded(root, size=8, resize="pad", val_size=0, test_size=0, normalize="none")
    assert isinstance(padded.preprocessor, ImageEncoder)
    assert padded.preprocessor.form.resize == "pad"
    assert "(pad)" in padded.notes[0]
    white = padded.preprocessor.encode([root / "cat/wide.png"])
    rows = [[0.0] * 8] * 2 + [[1.0] * 8] * 4 + [[0.0] * 8] * 2  # black above and below
    assert white[0, 0].tolist() == rows
    assert any(torch.equal(image, white[0]) for image in padded.train.inputs)


def test_photos_of_one_large_size_are_brought_to_the_usual_one(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "a/1.png", "b/1.png", shape=(4, 600))
    data = loaded(root, val_size=0, test_size=0)
    assert data.spec.input_shape == (1, 224, 224)
    assert data.notes[0] == "images of 4 x 600 are resized to 224 x 224 (squash), L"


def test_images_of_one_size_keep_it_up_to_a_limit(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "a/1.png", "b/1.png", shape=(4, 512))
    assert loaded(root, val_size=0, test_size=0).spec.input_shape == (1, 4, 512)


def test_a_table_beside_the_images_says_what_to_learn(tmp_path: Path) -> None:
    root = folder_of(tmp_path, *(f"{place}.png" for place in range(10)))
    rows = [f"{place}.png,{'ab'[place % 2]},{place % 3}" for place in range(10)]
    (root / "metadata.csv").write_text("\n".join(["file_name,kind,count", *rows]) + "\n")
    spec = loaded(root, target="count").spec
    assert (spec.target, spec.class_names, spec.target_names) == (
        "class",
        ("0", "1", "2"),
        ("count",),
    )
    spec = loaded(root, target="count", target_kind="real").spec
    assert (spec.target, spec.num_outputs, spec.target_names) == ("real", 1, ("count",))


def test_several_frames_are_said(root: Path) -> None:
    more = [Image.fromarray(bytes_of(1, 4, 4))]
    save(root / "cat/0.png", bytes_of(0, 4, 4), save_all=True, append_images=more)
    assert (
        loaded(root).notes[1] == "1 files have several frames or pages, of which the first is read"
    )


def test_images_that_were_learned_from_and_tested_on_are_counted(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "train/a/1.png", "train/b/1.png", "val/a/1.png", "test/b/1.png")
    save(root / "test/a/copy.png", bytes_of(0, 4, 4), compress_level=0)  # other bytes in the file
    assert loaded(root).notes[-1] == "1 test images are also in train, pixel for pixel"


@pytest.mark.parametrize("memory", [1.0, 300 / 2**30])
def test_bad_files_go_as_the_settings_say(root: Path, memory: float) -> None:
    (root / "cat/0.png").write_bytes((root / "cat/0.png").read_bytes()[:-20])  # its head is good
    sentence = (
        r"^1 of 20 files cannot be read as images; data.on_bad=skip skips them: "
        r".*/cat/0.png cannot be read as an image: Truncated File Read$"
    )
    with pytest.raises(DataError, match=sentence):
        loaded(root, memory=memory)
    with pytest.raises(DataError, match=r"^1 of 20 files .*, more than most_bad=0.01: "):
        loaded(root, memory=memory, on_bad="skip")
    data = loaded(root, memory=memory, on_bad="skip", most_bad=0.1)
    assert type(data.train) is (PixelSplit if memory == 1 else StoredSplit)
    assert sum(len(split) for _, split in data.splits()) == 19
    assert data.notes[0] == "1 of 20 files were unreadable and skipped"
    assert data.notes[1].endswith("/cat/0.png cannot be read as an image: Truncated File Read")
    aside = loaded(root, memory=memory, on_bad="quarantine", most_bad=0.1)
    assert torch.equal(aside.train.inputs, data.train.inputs)
    assert (root / "cat/0.png").is_file()
    (root / "cat/0.png").unlink()
    assert torch.equal(loaded(root, memory=memory).train.inputs, data.train.inputs)


def test_a_class_whose_files_are_all_bad_is_refused(root: Path) -> None:
    folder_of(root, "cow/1.png")
    (root / "cow/1.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"^class 'cow' has no training image$"):
        loaded(root, on_bad="skip", most_bad=0.1)


def test_folders_of_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^path is empty, wanted a folder of images: name"):
        load_image_folder(ImageFolderConfig())
    with pytest.raises(DataError, match=r"^mine has only one class in its training rows, 'a'$"):
        loaded(folder_of(tmp_path / "mine", "a/1.png", "a/2.png"), val_size=0, test_size=0)
    (tmp_path / "mine/a/1.png").write_bytes(b"")
    (tmp_path / "mine/a/2.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"^2 of 2 files .* more than most_bad=0.5: "):
        loaded(tmp_path / "mine", on_bad="skip", most_bad=0.5)


def test_a_path_finds_its_source(tmp_path: Path, root: Path) -> None:
    assert data_section(root)["name"] == "images"
    assert data_section(root / "cat/0.png")["name"] == "images"
    assert data_section(tmp_path / "rows.csv")["name"] == "table"
    pairs = folder_of(tmp_path / "pairs", "images/1.png", "masks/1.png")
    assert data_section(pairs) == {"name": "segmentation", "path": str(pairs)}


def test_a_run_reads_images_as_it_learned_them(root: Path, tmp_path: Path) -> None:
    run = nw.fit("softmax", root, epochs=1, out=tmp_path / "run", quiet=True)
    again = nw.open_run(tmp_path / "run")
    assert again.evaluate() == run.evaluate()
    photo, folder = root / "cat/0.png", root / "dog"
    assert again.predict(str(photo)).tolist() == run.predict([photo]).tolist()
    assert run.predict_proba(folder).shape == (10, 2)
    assert (
        run.evaluate(root)["accuracy"]
        == run.evaluate((bytes_of_all(root), ["cat"] * 10 + ["dog"] * 10))["accuracy"]
    )


def bytes_of_all(root: Path) -> torch.Tensor:
    form = ImageForm(mode="L", height=4, width=4)
    return torch.stack([decode_file(root / name, form) for name in NAMES])


def test_images_that_come_to_far_more_than_their_files_stay_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FREE", 10**5)
    for place in range(8):
        file = tmp_path / "ab"[place % 2] / f"{place}.png"
        file.parent.mkdir(exist_ok=True)
        Image.new("L", (300, 300), place).save(file)
    data = load_image_folder(ImageFolderConfig(path=str(tmp_path)))
    assert isinstance(data.train, StoredSplit)
    assert any("GiB, far more than their files: they are decoded batch" in n for n in data.notes)
