"""The record of what a caller hands over in person."""

from netwright.train.own.parts import NO_PARTS, OwnParts


def test_by_default_nothing_is_handed_over() -> None:
    assert OwnParts() == NO_PARTS
