"""Links inside a folder of data: none is followed, for whoever sent the folder chose its target.

What a model learns from a private file goes wherever its run goes.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from netwright.core.errors import DataError


def check_no_links(paths: Iterable[Path]) -> None:
    """Refuse what is a link in a folder of data; one that leads nowhere is let be."""
    for path in paths:
        if path.is_symlink() and os.path.exists(path):
            raise DataError(
                f"{path} is a symbolic link, which is not followed in a data folder: replace it "
                f"with its target"
            )


def check_no_links_between(root: Path, files: Iterable[Path]) -> None:
    """Refuse files that are reached from a folder by a link, or are one."""
    places = {place for file in files for place in (file, *file.parents)}
    check_no_links(sorted(place for place in places if root in place.parents))
