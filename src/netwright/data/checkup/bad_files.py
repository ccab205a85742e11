"""Files of a folder that cannot be read: all of them by name, not only the first."""

from collections.abc import Callable, Sequence
from pathlib import Path

from netwright.core.errors import DataError
from netwright.core.finding import Finding
from netwright.data.checkup.wording import first_few, share
from netwright.data.images.decoding import ImageForm, decode_file
from netwright.data.images.reading import for_each
from netwright.data.text.text_files import read_text

FORM = ImageForm(mode="RGB", height=8, width=8)  # decoded whole, kept small
SHOWN = 3  # sentences on bad files are long


def find_bad_images(files: Sequence[Path], skipping: str, see: str) -> Finding | None:
    """Images that cannot be decoded to their end.

    Args:
        files: the images.
        skipping: what a setting of the source does with them; empty where it has none.
        see: what explains the source.
    """
    return _finding(
        files,
        lambda place: decode_file(files[place], FORM),
        fix=f"Fix or remove them{skipping}",
        see=see,
    )


def find_bad_texts(files: Sequence[Path], see: str, encoding: str | None = None) -> Finding | None:
    """Texts that are empty, cut off or not in their encoding, by default UTF-8."""
    alone = "Put text into it, saved as UTF-8"
    return _finding(
        files,
        lambda place: read_text(files[place], encoding),
        fix="Save them as UTF-8, or remove them from the folder" if len(files) > 1 else alone,
        see=see,
    )


def _finding(
    files: Sequence[Path], read: Callable[[int], object], *, fix: str, see: str
) -> Finding | None:
    ends = for_each(files, read, "looking at files")
    bad = [str(end) for end in ends if isinstance(end, DataError)]
    if not bad:
        return None
    return Finding(
        illness="unreadable-files",
        sentence=f"{_some(len(bad), len(files))} cannot be read: {first_few(bad, SHOWN)}",
        fix=fix,
        see=see,
    )


def _some(bad: int, files: int) -> str:
    return "the only file" if files == 1 else f"{share(bad, files)} files"
