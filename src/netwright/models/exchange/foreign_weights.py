"""Weights that another library wrote, read under our names.

Our networks for images have torchvision's names, so torchvision reads the weights of a run as they
are. timm's names are the same but for the dense layers of VGG, which it keeps as convolutions:

    pre_logits.fc1.weight   (4096, 512, 7, 7)   ->   classifier.0.weight   (4096, 25088)
    pre_logits.fc2.weight   (4096, 4096, 1, 1)  ->   classifier.3.weight   (4096, 4096)
    head.fc.weight          (1000, 4096)        ->   classifier.6.weight   (1000, 4096)

What differs in those of GPT-2, BERT, T5 and ViT is in files of their own. Only safetensors are
read. A pickle may run code when it is loaded, and is refused.
"""

import shlex
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.regular_file import check_regular
from netwright.models.exchange.bert_weights import from_bert, is_bert
from netwright.models.exchange.gpt2_weights import from_gpt2, is_gpt2
from netwright.models.exchange.t5_weights import from_t5, is_t5
from netwright.models.exchange.vit_weights import from_vit, is_vit
from netwright.models.model import Model

PICKLES = frozenset({".pth", ".pt", ".bin", ".ckpt", ".pkl", ".tar"})
TIMM_DENSE = {
    "pre_logits.fc1": "classifier.0",
    "pre_logits.fc2": "classifier.3",
    "head.fc": "classifier.6",
}
CONVERSION = (
    "import sys, torch; from safetensors.torch import save_file; "
    "given = torch.load(sys.argv[1], map_location='cpu', weights_only=True); "
    "save_file({name: value.contiguous() for name, value in given.get('state_dict', given).items()}"
    ", sys.argv[2])"
)


def read_foreign_weights(path: Path, model: nn.Module) -> dict[str, Tensor]:
    """The weights of a file by the model's own names, all of them; shapes are those of the file.

    Batch norm's count of batches, which old files lack, is then the model's. Parts that only some
    tasks have (`Model.task_parts`) may be missing, and those of another task are there, too: who
    takes the weights picks them.

    Args:
        path: a .safetensors file with names of torchvision, timm, `transformers` or netwright.
        model: whose `state_dict` is to be filled.
    """
    own = model.state_dict()
    weights = {name: value for name, value in own.items() if name.endswith("num_batches_tracked")}
    given = _read(path)
    for name, value in _by_our_names(given, own).items():
        weights |= _as_ours(name, value, own)
    parts = model.task_parts if isinstance(model, Model) else frozenset()
    names = {name for name in (*own, *weights) if name.partition(".")[0] not in parts}
    missing = next((f"{name!r} is missing" for name in own if name in names - {*weights}), "")
    unknown = next((f"{name!r} is unknown" for name in weights if name in names - {*own}), "")
    if missing or unknown:
        faults = ", ".join(filter(None, (missing, unknown)))
        raise ConfigError(f"the names in {path} do not fit this model: {faults}")
    of_the_task = {name: value for name, value in weights.items() if name not in names}
    return {**{name: weights[name] for name in own if name in names}, **of_the_task}


def _read(path: Path) -> dict[str, Tensor]:
    if path.suffix.lower() in PICKLES:
        files = shlex.join((str(path), str(path.with_suffix(".safetensors"))))
        raise ConfigError(
            f"{path} is a pickle, which may run code when it is loaded; if you trust it, convert"
            f' it with: python -c "{CONVERSION}" {files}'
        )
    try:
        check_regular(path)
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise DataError(f"{path} is not a readable safetensors file: {error}") from None


def _by_our_names(given: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The weights of a transformer of `transformers` by our names; others as they are."""
    if is_gpt2(given):
        return from_gpt2(given, own)
    if is_t5(given):
        return from_t5(given, own)
    if is_bert(given):
        return from_bert(given)
    return from_vit(given) if is_vit(given) else given


def _as_ours(name: str, value: Tensor, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """One weight under the name, and with the dimensions, that it has in the model.

    A name that leads to none of the model's stays as it is: a refusal names what is in the file.
    """
    bare = name.removeprefix("module.")  # of a model that was trained on several GPUs
    layer, _, kind = bare.rpartition(".")
    ours = bare if bare in own else f"{TIMM_DENSE.get(layer, layer)}.{kind}"
    if name in own or ours not in own:
        return {name: value}
    return {ours: value.flatten(1) if ours != bare and kind == "weight" else value}
