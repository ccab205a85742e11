"""`netwright serve`: trained runs that answer over HTTP."""

from pathlib import Path
from typing import Annotated, Any

import typer


def serve(  # noqa: PLR0913, PLR0917 - one argument an option
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Run folders, or NAME=FOLDER.")
    ],
    host: Annotated[
        str, typer.Option(help="The address to listen on; others than this machine need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0: any that is free.")] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(help="A file with the token that requests must bring. (made where needed)"),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A name by which the server may be asked, as by a proxy; then it needs a token.",
        ),
    ] = None,
    max_body: Annotated[
        float | None, typer.Option(help="Largest body of a request, in MB. (4)")
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option(help="Most rows, texts or images of a request. (10000)")
    ] = None,
    max_batch: Annotated[
        int | None,
        typer.Option(help="Most rows passed to the model together; 1: each request alone. (256)"),
    ] = None,
    max_waiting: Annotated[
        int | None, typer.Option(help="Most requests that wait for a run. (256)")
    ] = None,
    max_streams: Annotated[
        int | None, typer.Option(help="Most texts that are generated at a time. (8)")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Most tokens of a generated text. (4096)")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds in which a request must be answered. (30)")
    ] = None,
) -> None:
    """Answer requests with trained runs: rows, texts and images in, predictions out.

    netwright serve runs/mlp-digits-001
    netwright serve flowers=runs/mlp-flowers-csv-001 texts=runs/lstm-notes-txt-001 --port 9000
    curl http://127.0.0.1:8000/runs/flowers/predict --json '{"rows": [{"petal_length": 4.7, ...}]}'
    curl http://127.0.0.1:8000/runs/flowers/predict -H "Content-Type: text/csv" -T new.csv -X POST
    netwright serve RUN --host 0.0.0.0 --token-file token.txt --allow-host models.example.org
    """
    from netwright.apps.server.served_runs import named_folders
    from netwright.core.config import parse
    from netwright.core.errors import ConfigError

    folders = named_folders(runs)
    try:
        from netwright.apps.server.serving import serve_runs
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"httptools", "starlette", "uvicorn"}:
            raise
        raise ConfigError("serving needs the extra: pip install 'netwright[serve]'") from None
    from netwright.apps.server.server_config import ServerConfig

    given: dict[str, Any] = {
        "max_body": max_body,
        "max_rows": max_rows,
        "max_batch": max_batch,
        "max_waiting": max_waiting,
        "max_streams": max_streams,
        "max_tokens": max_tokens,
        "timeout": timeout,
    }
    config = parse(ServerConfig, {name: one for name, one in given.items() if one is not None})
    code = serve_runs(
        folders, host=host, port=port, token_file=token_file, names=allow_host or [], config=config
    )
    raise typer.Exit(code)
