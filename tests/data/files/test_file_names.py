"""Names as they can be shown: nothing in them reaches the terminal as a command."""

import os

from netwright.data.files.file_names import shown
from tests.repetition import for_each


@for_each(
    ("name", "text"),
    [
        ("plain name.png", "plain name.png"),
        ("größe/猫.png", "größe/猫.png"),
        ("two\nlines.png", r"two\nlines.png"),
        ("\x1b[31mred.png", r"\x1b[31mred.png"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        (os.fsdecode(b"\xff.png"), r"\udcff.png"),
    ],
)
def test_what_cannot_be_printed_is_escaped(name: str, text: str) -> None:
    assert shown(name) == text
    assert shown(name).isprintable()
