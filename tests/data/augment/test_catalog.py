"""Laws that every augmentation of the table keeps."""

import pytest
import torch
from torch import Tensor

from netwright.data.augment.augmentation import Augmentation
from netwright.data.augment.catalog import AUGMENTATIONS, MIXING
from netwright.data.augment.mixing import Mixing
from tests.repetition import for_each

NAMES = list(AUGMENTATIONS)


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(count: int = 16, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.rand(count, 3, 9, 8, generator=stream(), dtype=torch.float64).to(dtype)


@pytest.fixture(params=NAMES)
def augmentation(request: pytest.FixtureRequest) -> Augmentation:
    return AUGMENTATIONS.load(request.param)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_shape_and_dtype_are_kept_and_the_images_themselves_untouched(
    augmentation: Augmentation, dtype: torch.dtype
) -> None:
    x = images(dtype=dtype)
    before = x.clone()
    changed = augmentation.apply(x, augmentation.strength, stream())
    assert (changed.shape, changed.dtype) == (x.shape, dtype)
    assert torch.equal(x, before)
    assert not torch.equal(changed, x)
    assert changed.isfinite().all()


def test_one_channel_or_several(augmentation: Augmentation) -> None:
    for channels in (1, 2, 5):
        if augmentation.channels in (None, channels):
            x = images()[:, :1].repeat(1, channels, 1, 1)
            assert augmentation.apply(x, augmentation.strength, stream()).shape == x.shape


def test_the_same_generator_gives_the_same_and_another_does_not(augmentation: Augmentation) -> None:
    x, strength = images(), augmentation.strength
    first = augmentation.apply(x, strength, stream(1))
    assert torch.equal(augmentation.apply(x, strength, stream(1)), first)
    assert not torch.equal(augmentation.apply(x, strength, stream(2)), first)


def test_images_of_a_batch_are_changed_by_numbers_of_their_own(augmentation: Augmentation) -> None:
    x = images(1).expand(16, -1, -1, -1).clone()
    x[8:] = images(2)[1]  # mixing needs two kinds
    changed = augmentation.apply(x, augmentation.strength, stream())[:8]
    flips = [AUGMENTATIONS.load(name) for name in ("flip", "flip-vertical")]
    least = 2 if augmentation in flips else 3
    assert len(torch.unique(changed, dim=0)) >= least


def test_the_generators_of_the_process_stay_as_they_are(augmentation: Augmentation) -> None:
    before = torch.get_rng_state()
    augmentation.apply(images(), augmentation.strength, stream())
    assert torch.equal(torch.get_rng_state(), before)


@for_each("name", [name for name in NAMES if name not in MIXING])
def test_without_strength_nothing_changes(name: str) -> None:
    x = images(dtype=torch.float64)
    assert torch.allclose(AUGMENTATIONS.load(name).apply(x, 0, stream()), x, atol=1e-12)


def test_cards_explain_letters_that_their_formula_has(augmentation: Augmentation) -> None:
    for letter in (one for key in augmentation.card.symbols for one in key.split(", ")):
        assert letter in augmentation.card.formula


def test_cards_say_what_the_strength_is(augmentation: Augmentation) -> None:
    assert "s" in augmentation.card.symbols
    assert augmentation.card.sentence.endswith(".")


@for_each("name", NAMES)
def test_the_default_strength_is_allowed(name: str) -> None:
    augmentation = AUGMENTATIONS.load(name)
    augmentation.check(name, augmentation.strength, (3, 8, 8))


def test_those_that_change_targets_are_known_without_loading_them() -> None:
    assert {name for name in NAMES if isinstance(AUGMENTATIONS.load(name), Mixing)} == MIXING


def test_names_and_usual_strengths_are_these() -> None:
    assert {name: AUGMENTATIONS.load(name).strength for name in AUGMENTATIONS} == {
        "flip": 0.5,
        "flip-vertical": 0.5,
        "crop": 2,
        "rotation": 10,
        "zoom": 0.2,
        "elastic": 0.02,
        "brightness": 0.2,
        "contrast": 0.2,
        "colour-jitter": 0.2,
        "noise": 0.05,
        "cutout": 4,
        "mixup": 0.2,
        "cutmix": 1.0,
    }


def test_results_lie_in_the_room_that_they_are_given() -> None:
    for name in ("brightness", "contrast", "colour-jitter", "cutout"):
        augmentation = AUGMENTATIONS.load(name)
        x, room = images(), torch.empty_like(images())
        wanted = augmentation.apply(x, augmentation.strength, stream())
        found = augmentation.apply(x, augmentation.strength, stream(), room)
        assert found.data_ptr() == room.data_ptr()
        assert torch.equal(room, wanted)


def test_only_what_changes_a_pixel_by_itself_is_written_over_the_images() -> None:
    in_place = {name for name in NAMES if AUGMENTATIONS.load(name).in_place}
    assert in_place == {"brightness", "contrast", "cutout"}
    for name in in_place:
        augmentation, x = AUGMENTATIONS.load(name), images()
        wanted = augmentation.apply(x, augmentation.strength, stream())
        augmentation.apply(x, augmentation.strength, stream(), x)
        assert torch.equal(x, wanted)
