"""Images that are too small: one sentence, before any layer is made."""

import pytest

from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.models.vision.image_size import check_image_size


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
