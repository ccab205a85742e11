"""`netwright import`: weights of torchvision, timm or Hugging Face as a run."""

from pathlib import Path
from typing import Annotated

import typer


def import_weights(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A .safetensors file of torchvision or timm, or a folder of Hugging Face's with a "
            "GPT-2.",
        ),
    ],
    model: Annotated[
        str, typer.Option(help="Whose weights they are: resnet18, vgg16 ...; a folder says it.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="The run folder. (runs/...)")] = None,
    classes: Annotated[
        Path | None, typer.Option(help="A text file with the name of a class per line. (0, 1 ...)")
    ] = None,
    size: Annotated[int, typer.Option(help="Height and width of the images.", min=1)] = 224,
) -> None:
    """Make a run of published weights, for predict, evaluate, generate and train --from.

    netwright import resnet18.safetensors --model resnet18 --classes imagenet.txt
    netwright import my-gpt2 --out runs/gpt2
    """
    from netwright.core.terminal.console import print_result
    from netwright.data.text.text_files import read_text
    from netwright.recipes.exchange.import_run import import_run

    names = [] if classes is None else read_text(classes).splitlines()
    folder = import_run(source, model, out=out, classes=names, size=size)
    print_result(f"{folder} holds the weights of {source}")
