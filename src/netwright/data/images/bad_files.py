"""What is done with files that cannot be read as images: every one is named, none is guessed.

stop         the first bad file ends it, with the names of all
skip         they are left out, up to a share of all files
quarantine   the same, and `.quarantine/bad_files.txt` below the folder lists them

No file is moved: the same folder is also read to evaluate a run, or only to look at it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from netwright.core.errors import DataError
from netwright.core.files.storage import make_folder, write_text
from netwright.data.files.file_names import shown

OnBad = Literal["stop", "skip", "quarantine"]
LIST = Path(".quarantine", "bad_files.txt")  # below the folder, hidden from the listing
SHOWN = 20  # so many of them fit into a refusal


def handle_bad_files(
    bad: Mapping[Path, str], *, root: Path, count: int, on_bad: OnBad, most_bad: float
) -> tuple[str, ...]:
    """Refuse, or give a note on each file that is left out.

    Args:
        bad: file -> the sentence on it.
        root: the folder of the images.
        count: how many files there are, good and bad.
        on_bad: what to do.
        most_bad: the share of bad files above which `skip` and `quarantine` stop too.
    """
    if not bad:
        return ()
    number = f"{len(bad)} of {count} files"
    if on_bad == "stop":
        raise DataError(
            f"{number} cannot be read as images; data.on_bad=skip skips them: {_named(bad)}"
        )
    if len(bad) > most_bad * count:
        raise DataError(
            f"{number} cannot be read as images, more than most_bad={most_bad:g}: {_named(bad)}"
        )
    listed = ""
    if on_bad == "quarantine":
        _write_list(bad, root)
        listed = f"; {shown(root / LIST)} lists them"
    return (f"{number} were unreadable and skipped{listed}", *bad.values())


def _named(bad: Mapping[Path, str]) -> str:
    rest = f"; and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
    return "; ".join(list(bad.values())[:SHOWN]) + rest


def _write_list(bad: Mapping[Path, str], root: Path) -> None:
    make_folder(root / LIST.parent)
    write_text(root / LIST, "".join(f"{sentence}\n" for sentence in bad.values()), inside=root)
