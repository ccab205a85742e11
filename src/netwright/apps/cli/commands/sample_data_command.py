"""`netwright sample-data`: small files to try the other commands on."""

from pathlib import Path
from typing import Annotated

import typer


def sample_data(
    folder: Annotated[Path, typer.Argument(help="Where the files go.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="The files as JSON.")] = False,
) -> None:
    """Write a small table, images, texts and a series; existing files are left unchanged.

    netwright sample-data
    netwright sample-data samples
    """
    from netwright.core.console import give, give_json, warn
    from netwright.data.sample_files import write_samples

    written, kept = write_samples(folder)
    tops = list(dict.fromkeys(path.relative_to(folder).parts[0] for path in written))
    if kept:
        names = dict.fromkeys(path.relative_to(folder).parts[0] for path in kept)
        warn(f"left unchanged: {', '.join(names)}")
    if as_json:
        give_json([str(path) for path in written])
    else:
        give("".join(f"{folder / name}\n" for name in tops) or "nothing was written")
