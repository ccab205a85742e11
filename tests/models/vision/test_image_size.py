"""Images that are too small, or of another size than a network has: one sentence."""

import pytest
import torch

from netwright.core.errors import ConfigError, ShapeError
from netwright.data.spec import DataSpec
from netwright.models.vision.image_size import check_image_size, check_sides


def images(rows: int, columns: int) -> DataSpec:
    return DataSpec(inputs="image", input_shape=(3, rows, columns), target="class", num_outputs=2)


def test_the_shorter_side_decides() -> None:
    check_image_size("x halves an image five times", images(32, 32), 32)
    check_image_size("x halves an image five times", images(900, 32), 32)
    for rows, columns in ((31, 900), (900, 31), (28, 28)):
        sentence = (
            f"^x halves an image five times: it must be at least 32 x 32, got {rows} x {columns}$"
        )
        with pytest.raises(ConfigError, match=sentence):
            check_image_size("x halves an image five times", images(rows, columns), 32)


def test_images_of_another_size_are_refused_also_turned_ones() -> None:
    check_sides("it has positions for images", torch.zeros(2, 3, 4, 6), (4, 6))
    with pytest.raises(ShapeError, match=r"^it has positions for images of 4 x 6, got 6 x 4$"):
        check_sides("it has positions for images", torch.zeros(2, 3, 6, 4), (4, 6))
