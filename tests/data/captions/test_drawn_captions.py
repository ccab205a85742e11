"""Drawn captions: what they say is what is drawn, and a transformer learns to say it."""

from typing import Any, cast

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.captions.caption_encoder import CaptionEncoder
from netwright.data.captions.drawn_captions import (
    BITMAPS,
    COLOURS,
    EDGE,
    CaptionsConfig,
    count_images,
)
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.data.loading.paired_texts import PairSplit
from netwright.decoding.source_decoder import SourceDecoder, say_greedily

SIDE = 8


def found(image: str) -> list[tuple[int, int, str, str]]:
    """Row, column, colour and shape of all that is drawn, by comparing bitmaps."""
    rows = [image[start : start + SIDE] for start in range(0, SIDE**2, SIDE)]
    seen = []
    for name, bitmap in BITMAPS.items():
        for colour, letter in COLOURS.items():
            wanted = [dots.replace("#", letter).replace(".", "k") for dots in bitmap.split()]
            for row in range(SIDE - EDGE + 1):
                for column in range(SIDE - EDGE + 1):
                    part = [line[column : column + EDGE] for line in rows[row : row + EDGE]]
                    if part == wanted:
                        seen.append((row, column, colour, name))
    return seen


def test_a_caption_says_what_is_drawn() -> None:
    train = load("captions", n=300).train
    assert isinstance(train, PairSplit)
    relations = set()
    for image, caption in zip(train.sources, train.references, strict=True):
        shapes = found(image)
        assert sum(letter != "k" for letter in image) == sum(
            BITMAPS[name].count("#") for *_, name in shapes
        )
        names = {f"a {colour} {name}" for *_, colour, name in shapes}
        if len(shapes) == 1:
            assert {caption} == names
            continue
        by_columns = abs(shapes[0][1] - shapes[1][1]) >= EDGE
        first, second = sorted(shapes, key=lambda one: one[1 if by_columns else 0])
        relation = "left of" if by_columns else "above"
        relations.add(relation)
        assert caption == f"a {first[2]} {first[3]} {relation} a {second[2]} {second[3]}"
    assert relations == {"left of", "above"}


def images_of(data: Data) -> list[str]:
    """The images of all parts."""
    return [image for _, split in data.splits() for image in cast(PairSplit, split).sources]


def test_no_image_is_held_out_and_learned_from() -> None:
    drawn = images_of(load("captions", n=3000))
    assert len(drawn) == len(set(drawn)) == 3000


def test_as_many_images_as_there_are_can_be_drawn_and_no_more() -> None:
    most = count_images(7)
    drawn = images_of(load("captions", n=most, side=7))
    assert len(set(drawn)) == most
    with pytest.raises(ConfigError, match=f"at most {most}, .* got {most + 1}: lower n, or raise"):
        CaptionsConfig(n=most + 1, side=7)
    with pytest.raises(DataError, match="n=1000000 images takes"):
        CaptionsConfig(n=1_000_000, side=32)


def test_words_of_captions_that_are_held_out_are_not_known_beforehand() -> None:
    data = load("captions", n=5, test_size=0.8, val_size=0.0)
    assert isinstance(data.train, PairSplit)
    assert isinstance(data.test, PairSplit)
    assert isinstance(data.preprocessor, CaptionEncoder)
    known = {data.preprocessor.target.text_of(place) for place in range(data.spec.num_outputs)}
    learned = {word for caption in data.train.references for word in caption.split()}
    held_out = {word for caption in data.test.references for word in caption.split()}
    assert learned <= known
    assert held_out - learned
    assert not (held_out - learned) & known


@pytest.fixture(scope="module")
def small() -> nw.Run:
    settings: dict[str, Any] = {"n": 60, "width": 16, "heads": 2, "layers": 1, "dropout": 0.0}
    settings["convolutions"] = 1
    return nw.fit("transformer", "captions", epochs=1, quiet=True, device="cpu", **settings)


def test_captions_are_said_token_for_token_as_without_a_cache(small: nw.Run) -> None:
    model, split = small.model.eval(), small.data.train
    source, told = split.inputs[:4, : SIDE**2], split.inputs[:4, SIDE**2 :]
    assert isinstance(model, SourceDecoder)
    with torch.no_grad():
        said = say_greedily(model, source, told.shape[1], begin=2, end=3)
        heard = told[:, :1]
        for place in range(told.shape[1]):
            again = model((source, heard))[:, -1].argmax(dim=1)
            is_going = ~(said[:, :place] == 3).any(dim=1)
            assert torch.equal(again[is_going], said[is_going, place])
            heard = torch.cat((heard, said[:, place : place + 1]), dim=1)


def test_the_cross_attention_of_a_caption_can_be_looked_at(small: nw.Run) -> None:
    assert nw.inspect(small, "alignment").text()
    assert set(small.results["metrics"]) >= {"sequence_accuracy", "free_accuracy"}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.covers("image-captioning")
def test_a_transformer_learns_to_describe_images_that_it_has_not_seen() -> None:
    """Right to the last word were 99.2 % of 2,000 test images, in 175 CPU-seconds.

    The captions of the test images are known from others, the images are not.
    """
    model: dict[str, Any] = {"width": 64, "layers": 1, "dropout": 0.0, "convolutions": 2}
    train: dict[str, Any] = {"epochs": 6, "lr": 2e-3, "schedule": "cosine", "device": "cpu"}
    run = nw.fit("transformer", "captions", quiet=True, **model, **train)
    assert run.results["split"] == "test"
    assert run.results["metrics"]["sequence_accuracy"] >= 0.97
