"""`netwright generate`: a trained language model goes on with a text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer


def generate(  # noqa: PLR0913, PLR0917 - one argument an option
    run: Annotated[Path, typer.Argument(help="A run folder of a language model.")],
    prompt: Annotated[str, typer.Argument(help="The prompt (- is standard input). (empty)")] = "",
    max_tokens: Annotated[int, typer.Option(help="Maximum number of tokens.")] = 200,
    temperature: Annotated[
        float | None,
        typer.Option(help="Sampling temperature; 0 always takes the most likely token. (0.8)"),
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(help="Sample only from this many most likely tokens. (all)")
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            help="Sample only from the smallest set of tokens with this probability. (all)"
        ),
    ] = None,
    beams: Annotated[
        int | None, typer.Option(help="Beam search with this many beams. (sample)")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed for sampling. (0)")] = None,
    count: Annotated[int, typer.Option(help="How many texts, with consecutive seeds.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, one object per text.")] = False,
) -> None:
    """Generate text with a language model, printed as it is sampled.

    netwright generate runs/lstm-tinyshakespeare-001 "ROMEO:"
    netwright generate RUN "To be" --temperature 0.5 --top-k 40 --count 3
    echo "Once upon" | netwright generate RUN -
    """
    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import print_data, print_json, print_warning
    from netwright.recipes.run.run import open_run

    if count < 1:
        raise ConfigError(f"--count must be at least 1, got {count}")
    if beams is not None:
        drawing = {"temperature": temperature, "top-k": top_k, "top-p": top_p, "seed": seed}
        _check_beams(beams, count, [name for name, value in drawing.items() if value is not None])
    opened = open_run(run)
    beginning = _typed() if prompt == "-" else prompt
    texts = [
        opened.stream(
            beginning,
            beams=beams,
            max_tokens=max_tokens,
            top_k=top_k,
            top_p=top_p,
            seed=(seed or 0) + place,
            **({} if temperature is None else {"temperature": temperature}),
        )
        for place in range(count)
    ]
    if beginning:
        for remark in opened.preprocessor.remarks([beginning]):
            print_warning(f"of the prompt, {remark}")
    if as_json:
        print_json([{"prompt": beginning, "text": "".join(pieces)} for pieces in texts])
        return
    for place, pieces in enumerate(texts):
        if place:
            print_data("---")
        print_data(beginning, end="")
        for piece in pieces:
            print_data(piece, end="")
        print_data("")


def _check_beams(beams: int, count: int, drawing: Sequence[str]) -> None:
    """Refuse what beams have no use for: they find one text and draw nothing."""
    from netwright.core.errors import ConfigError

    if beams < 1:
        raise ConfigError(f"--beams must be at least 1, got {beams}")
    if count > 1:
        raise ConfigError(f"--count must be 1 with --beams, which returns one text, got {count}")
    if drawing:
        raise ConfigError(f"--{drawing[0]} cannot be combined with --beams, which does not sample")


def _typed() -> str:
    """The prompt on standard input, without its last line end."""
    from netwright.apps.cli.standard_input import INPUT, read_standard_input
    from netwright.data.text.text_files import decode_text

    return decode_text(INPUT, read_standard_input()).removesuffix("\n")
