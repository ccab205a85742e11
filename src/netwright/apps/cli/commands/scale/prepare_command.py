"""`netwright prepare`: token files of a corpus, to train a language model on."""

from pathlib import Path
from typing import Annotated

import typer


def prepare(  # noqa: PLR0913, PLR0917 - one argument an option
    corpus: Annotated[
        Path,
        typer.Argument(metavar="CORPUS", help="A .txt file, or a folder of them; .txt.gz too."),
    ],
    out: Annotated[Path, typer.Option(help="The folder of token files.")],
    tokenizer: Annotated[
        str,
        typer.Option(
            help="char, word, bpe or wordpiece, fitted to the text; or the path of a run, of token "
            "files, or of a tokenizer.json."
        ),
    ] = "bpe",
    vocab_size: Annotated[
        int | None, typer.Option(min=5, help="Maximum vocabulary size of a fitted tokenizer.")
    ] = None,
    lower: Annotated[bool, typer.Option("--lower", help="Convert to lower case.")] = False,
    val_size: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Fraction held out for validation, where file names do not say it."
        ),
    ] = 0.1,
    test_size: Annotated[
        float, typer.Option(min=0, max=1, help="Fraction at the end held out for testing.")
    ] = 0.0,
    shard_mb: Annotated[int, typer.Option(min=1, help="Megabytes of text per token file.")] = 64,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that encode; default: one per core.")
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Encode a corpus of any size into token files, which `netwright train` reads as it goes.

    Files that are named train, valid or test are these parts; otherwise the end of the text is held
    out. The same command continues a preparation that was interrupted.

    netwright prepare corpus/ --tokenizer bpe --vocab-size 16000 --out shards/
    netwright prepare corpus/ --tokenizer runs/gpt-corpus-001 --out shards/
    netwright train gpt shards/ --set data.window=1024
    """
    from netwright.core.terminal.console import Bar, print_result
    from netwright.data.text.shards.prepare import Preparation, plan_size, prepare_shards, summary
    from netwright.recipes.plan.corpus_tokens import corpus_tokens

    what = Preparation(
        corpus=corpus,
        out=out,
        tokens=corpus_tokens(tokenizer, vocab_size=vocab_size, lower=lower),
        val_size=val_size,
        test_size=test_size,
        piece_size=shard_mb * 2**20,
        workers=workers,
    )
    bar = Bar(plan_size(what) // 10**6, text="encoding", quiet=quiet)
    try:
        made = prepare_shards(
            what, lambda read, tokens: bar.move(read // 10**6, f"MB  {tokens / 1e6:,.1f} M tokens")
        )
    finally:
        bar.close()
    if not quiet:
        for line in summary(made):
            print_result(line)
