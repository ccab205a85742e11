"""Silence: while anybody is inside pillow is quiet, and afterwards all is as it was."""

import threading
import warnings

import pytest

from netwright.data.images.quiet_pillow import QuietPillow


def warn_as(module: str) -> None:
    exec("import warnings; warnings.warn('x')", {"__name__": module})


def test_only_pillow_is_silent() -> None:
    with QuietPillow():
        warn_as("PIL.TiffImagePlugin")
        with pytest.raises(UserWarning):
            warn_as("elsewhere")


def test_the_last_one_out_lifts_the_silence() -> None:
    quiet, before = QuietPillow(), list(warnings.filters)
    first_left, second_in = threading.Event(), threading.Event()

    def second() -> None:
        with quiet:
            second_in.set()
            first_left.wait(5)
            warn_as("PIL.Image")

    thread = threading.Thread(target=second)
    with quiet:
        thread.start()
        second_in.wait(5)
    first_left.set()
    thread.join(5)
    assert list(warnings.filters) == before
    with pytest.raises(UserWarning):
        warn_as("PIL.Image")
