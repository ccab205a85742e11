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
    from netwright.core.terminal.console import print_json, print_result, print_warning
    from netwright.data.files.sample_files import write_samples

    written, kept = write_samples(folder)
    tops = list(dict.fromkeys(path.relative_to(folder).parts[0] for path in written))
    if kept:
        names = dict.fromkeys(path.relative_to(folder).parts[0] for path in kept)
        print_warning(f"left unchanged: {', '.join(names)}")
    if as_json:
        print_json([str(path) for path in written])
    else:
        print_result("".join(f"{folder / name}\n" for name in tops) or "nothing was written")
