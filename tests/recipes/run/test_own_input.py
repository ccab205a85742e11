"""One input of one's own in the place of an example: encoded as any other, one and no more."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import netwright as nw
from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.recipes.run.own_input import encode_own

WORDS = "the quick brown fox jumps over the lazy dog "


def language_run(tmp_path: Path) -> nw.Run:
    (tmp_path / "words.txt").write_text(WORDS * 20)
    return nw.fit(
        "gpt",
        tmp_path / "words.txt",
        layers=1,
        heads=2,
        width=4,
        window=16,
        epochs=1,
        quiet=True,
        save=False,
    )


def test_a_row_is_looked_at_as_the_same_example_is(table_run: nw.Run) -> None:
    seen = nw.inspect(table_run, "occlusion", example=2)
    inputs = table_run.data.split(table_run.results["split"]).inputs[2:3]
    (row,) = table_run.preprocessor.decode(inputs)
    given = nw.inspect(table_run, "occlusion", of=row)
    assert given.to_json()["shown"] == seen.to_json()["shown"]
    assert np.allclose(given.to_json()["values"], seen.to_json()["values"], atol=1e-4)
    with pytest.raises(NetwrightError, match="lacks 2 columns"):
        nw.inspect(table_run, "occlusion", of={"nosuch": 1})
    with pytest.raises(ConfigError, match="not both"):
        nw.inspect(table_run, "occlusion", of=row, example=2)


def test_numbers_are_a_row_of_arrays(moons_run: nw.Run) -> None:
    left = nw.inspect(moons_run, "saliency", of=[-1.0, 0.5]).to_json()["values"]
    right = nw.inspect(moons_run, "saliency", of=[2.0, -0.5]).to_json()["values"]
    assert left != right
    row = dict(zip(("x0", "x1"), (-1.0, 0.5), strict=True))
    assert nw.inspect(moons_run, "saliency", of=row).to_json()["values"] == left


def test_the_attention_over_a_text_is_of_its_tokens(tmp_path: Path) -> None:
    run = language_run(tmp_path)
    shown = nw.inspect(run, "attention", of="lazy fox").to_json()
    assert "".join(shown["queries"]) == "lazy␣fox"
    weights = np.array(shown["maps"][0]["weights"])
    assert weights.shape == (8, 8) and np.allclose(weights.sum(axis=1), 1, atol=1e-5)
    assert encode_own(run, "dog").shape == (1, 3)
    with pytest.raises(ConfigError, match=r"at most 16 tokens.*got 17"):
        encode_own(run, "a" * 17)
    with pytest.raises(ConfigError, match="at least one token"):
        encode_own(run, "")
    with pytest.raises(DataError, match="one text, got list"):
        encode_own(run, ["dog"])


def test_the_maps_of_a_picture_are_of_its_pixels(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / "pictures" / name).mkdir(parents=True)
        for place in range(6):
            pixels = np.full((8, 8), 40 * place + 20 * (name == "b"), np.uint8)
            Image.fromarray(pixels).save(tmp_path / "pictures" / name / f"{place}.png")
    run = nw.fit("cnn", tmp_path / "pictures", epochs=1, quiet=True, save=False)
    path = tmp_path / "pictures" / "a" / "3.png"
    of_path = nw.inspect(run, "feature-maps", of=path).to_json()
    assert of_path == nw.inspect(run, "feature-maps", of=Image.open(path)).to_json()
    assert of_path != nw.inspect(run, "feature-maps", of=tmp_path / "pictures/b/0.png").to_json()
    assert torch.equal(encode_own(run, str(path)), run.encode([path]))


def test_a_view_of_many_rows_is_not_of_one_input(moons_run: nw.Run) -> None:
    with pytest.raises(ConfigError, match="not of a single input"):
        nw.inspect(moons_run, "confusion", of=[0.0, 0.0])
