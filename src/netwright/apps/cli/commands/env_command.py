"""`netwright env`: versions, device and folders, for a report of a problem."""

from typing import Annotated

import typer


def env(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Print everything results may depend on, and where data is searched for.

    netwright env
    """
    from netwright.core.devices import pick_device
    from netwright.core.terminal.console import print_json, print_result
    from netwright.data.files.locations import cache_folder, search_path
    from netwright.recipes.saved.environment import describe_environment

    found = describe_environment(pick_device("auto"))
    places = {"data": [str(path) for path in search_path()], "cache": str(cache_folder(""))}
    if as_json:
        print_json({**found, **places})
        return
    packages = found.pop("packages")
    for name, value in {**found, **packages, **places}.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        print_result(f"{name:<14} {shown}")
