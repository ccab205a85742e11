"""`netwright studio`: the runs of a folder in a browser."""

from pathlib import Path
from typing import Annotated

import typer


def studio(
    folder: Annotated[Path, typer.Argument(help="The folder whose runs are shown.")] = Path(),
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0: any that is free.")] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name by which the studio may be asked."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser", help="Open the page in the browser.")
    ] = False,
) -> None:
    """Show the runs of a folder in a browser, live while they train.

    It prints the address to open, which holds a new token at each start.

    netwright studio
    netwright studio experiments --port 9000 --browser
    """
    from netwright.core.errors import ConfigError

    try:
        from netwright.apps.studio.opening import open_studio
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"httptools", "starlette", "uvicorn"}:
            raise
        raise ConfigError("the studio needs the extra: pip install 'netwright[studio]'") from None
    code = open_studio(folder, host=host, port=port, names=allow_host or [], show=browser)
    raise typer.Exit(code)
