"""`netwright generate`: a trained language model goes on with a text."""

from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from netwright.recipes.run.run import Run


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
    length_penalty: Annotated[
        float | None,
        typer.Option(
            help="With --beams: 0 prefers short texts, 1 compares the mean per token. (0)"
        ),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(help="A file with one prompt per line, continued together."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed for sampling. (0)")] = None,
    count: Annotated[int, typer.Option(help="How many texts, with consecutive seeds.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, one object per text.")] = False,
) -> None:
    """Generate text with a language model, printed as it is sampled.

    netwright generate runs/lstm-tinyshakespeare-001 "ROMEO:"
    netwright generate RUN "To be" --temperature 0.5 --top-k 40 --count 3
    echo "Once upon" | netwright generate RUN -
    netwright generate RUN --prompts lines.txt --temperature 0
    """
    from netwright.apps.cli.predicted_texts import beam_settings
    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import print_json
    from netwright.recipes.run.run import open_run

    if count < 1:
        raise ConfigError(f"--count must be at least 1, got {count}")
    search = beam_settings(beams, length_penalty)
    if beams is not None:
        drawing = {"temperature": temperature, "top-k": top_k, "top-p": top_p, "seed": seed}
        _check_beams(beams, count, [name for name, value in drawing.items() if value is not None])
    if prompts is not None and (prompt or search or count > 1):
        raise ConfigError("--prompts continues the lines of a file: leave out PROMPT, beams, count")
    opened = open_run(run)
    beginnings = [_typed() if prompt == "-" else prompt] if prompts is None else _lines(prompts)
    settings: dict[str, Any] = {"max_tokens": max_tokens, "top_k": top_k, "top_p": top_p}
    if temperature is not None:
        settings["temperature"] = temperature
    texts: Sequence[Iterable[str]]
    if prompts is None:
        seeds = range(seed or 0, (seed or 0) + count)
        texts = [opened.stream(beginnings[0], **settings, **search, seed=one) for one in seeds]
    else:
        texts = opened.complete(beginnings, **settings, seed=seed or 0)
    _remark(opened, [one for one in beginnings if one])
    shown = zip(cycle(beginnings), texts, strict=False)
    if as_json:
        print_json([{"prompt": before, "text": "".join(pieces)} for before, pieces in shown])
    else:
        _print(shown)


def _remark(run: "Run", prompts: list[str]) -> None:
    """Say what of the prompts the run does not know."""
    from netwright.core.terminal.console import print_warning

    for remark in run.remarks(prompts) if prompts else ():
        print_warning(f"of the prompt, {remark}")


def _print(shown: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Each prompt and its text, as it comes."""
    from netwright.core.terminal.console import print_data

    for place, (before, pieces) in enumerate(shown):
        if place:
            print_data("---")
        print_data(before, end="")
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


def _lines(path: Path) -> list[str]:
    """The prompts in a file, one a line."""
    from netwright.data.text.text_files import read_text

    return read_text(path, "").removesuffix("\n").split("\n")


def _typed() -> str:
    """The prompt on standard input, without its last line end."""
    from netwright.apps.cli.standard_input import INPUT, read_standard_input
    from netwright.data.text.text_files import decode_text

    return decode_text(INPUT, read_standard_input()).removesuffix("\n")
