"""Weights of another library as a run, for `predict`, `evaluate`, `generate` and `train --from`.

    a .safetensors file of torchvision or timm     a network for images, with ImageNet's scaling
    a folder of Hugging Face's with a GPT-2        a language model with its tokenizer

How many outputs there are, and for how many channels, is read from the weights.
"""

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.checks import check_finite
from netwright.core.config import parse, to_mapping
from netwright.core.errors import ConfigError, DataError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json, write_json, write_text
from netwright.core.seeding import seeded
from netwright.data.images.decoding import CHANNELS, ImageMode
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.normalization import IMAGENET
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.models.catalog import MODELS
from netwright.models.dry_build import build_dry
from netwright.models.exchange.foreign_weights import read_foreign_weights
from netwright.models.exchange.gpt2_config import from_gpt2_config
from netwright.models.exchange.gpt2_vocabulary import read_vocabulary
from netwright.models.model import check_fits
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.saved.environment import describe_environment
from netwright.recipes.saved.run_folder import create_run_folder, write_model
from netwright.train.parts import parts_of
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.task import Task

SIZE = 224  # rows and columns of an image, where nothing else is said
STATUS = "imported"
WEIGHTS = "model.safetensors"
STARTED_FROM = ("bert", "t5", "vit")  # of whose folders only the weights are read, by --from


@dataclass(frozen=True, kw_only=True)
class _Imported:
    """What a run is made of."""

    section: dict[str, Any]  # of the model, in config.yaml
    spec: DataSpec
    preprocessor: Preprocessor
    task: Task
    weights: Mapping[str, Tensor]


def import_run(
    source: str | Path,
    model: str = "",
    *,
    out: str | Path | None = None,
    classes: Sequence[str] = (),
    size: int = SIZE,
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Write a run folder with the weights of another library; gives the folder.

    Args:
        source: a .safetensors file, or a folder of Hugging Face's with a GPT-2.
        model: whose weights they are, a name in the catalog; a folder says it itself.
        out: the new folder; by default the next free runs/MODEL-imported-NNN.
        classes: the names of the classes, in the order of the outputs; by default 0, 1, 2 ...
        size: rows and columns that images are brought to.
        settings: of the model, where they are not the default ones.
    """
    path = Path(source)
    if not path.exists():
        raise ConfigError(f"there is no {path} to import")
    if path.is_dir():
        if model not in {"", "gpt"} or classes or settings:
            raise ConfigError(
                f"{path} is a folder of Hugging Face's, whose config.json says all of the model: "
                "leave out the model, its classes and its settings"
            )
        imported = _language_model(path)
    elif not model:
        raise ConfigError(f"say whose weights {path} holds: --model resnet18, for example")
    else:
        imported = _image_model(path, model, classes, size, settings or {})
    built = _filled(imported, path)
    return _write(imported, built, path, None if out is None else Path(out))


def _image_model(
    path: Path, name: str, classes: Sequence[str], size: int, settings: Mapping[str, Any]
) -> _Imported:
    kind = MODELS.load(name)
    if "image" not in kind.inputs or "class" not in kind.targets:
        raise ConfigError(
            f"{name} is not a network for images: a file of weights is imported for those, a "
            "folder of Hugging Face's for a GPT-2"
        )
    config = parse(kind.settings, dict(settings), "model")

    def spec(channels: int, outputs: int, names: tuple[str, ...] = ()) -> DataSpec:
        return DataSpec(
            inputs="image",
            input_shape=(channels, size, size),
            target="class",
            num_outputs=outputs,
            class_names=names,
            class_type="text" if classes else "int",
        )

    check_fits(kind, name, spec(3, 1))
    dry = build_dry(lambda: kind.build(config, spec(3, 1)))
    weights = read_foreign_weights(path, dry)
    head = parts_of(dry)[-1].path
    outputs = next(len(held) for own, held in weights.items() if own.startswith(f"{head}."))
    kernel = next((held for held in weights.values() if held.ndim == 4), None)
    channels = 3 if kernel is None else kernel.shape[1]
    if classes and len(classes) != outputs:
        raise ConfigError(f"{path} has {outputs} classes, got {len(classes)} names")
    names = tuple(classes) or tuple(map(str, range(outputs)))
    mode = next((mode for mode, count in CHANNELS.items() if count == channels), None)
    if mode is None:
        raise ConfigError(f"{path} is for images of {channels} channels, wanted 1, 3 or 4")
    found = spec(channels, outputs, names)
    return _Imported(
        section={"name": name, **to_mapping(config)},
        spec=found,
        preprocessor=_image_encoder(found, mode),
        task=Classification(outputs),
        weights=weights,
    )


def _image_encoder(spec: DataSpec, mode: ImageMode) -> ImageEncoder:
    channels, height, width = spec.input_shape
    return ImageEncoder(
        input_shape=(channels, height, width),
        mode=mode,
        target="class",
        num_outputs=spec.num_outputs,
        mean=IMAGENET[mode].mean,
        scale=IMAGENET[mode].scale,
        class_names=spec.class_names,
        resize="crop",
    )


def _language_model(folder: Path) -> _Imported:
    _check_has(folder, "config.json", WEIGHTS)
    told = read_json(folder / "config.json")
    if not isinstance(told, dict):
        raise DataError(f"{folder / 'config.json'} does not describe a model")
    settings, reason = from_gpt2_config(told)
    if reason:
        other = told.get("model_type")
        way_out = (
            f"; netwright train {other} DATA --from {shlex.quote(str(folder / WEIGHTS))} "
            "starts from its weights"
            if other in STARTED_FROM
            else ""
        )
        raise ConfigError(f"{folder} does not hold a GPT-2: {reason}{way_out}")
    _check_has(folder, "tokenizer.json")
    vocabulary, kind = read_vocabulary(read_json(folder / "tokenizer.json")), MODELS.load("gpt")
    config = parse(kind.settings, settings, "model")
    encoder = CorpusEncoder(tokenizer=vocabulary.tokenizer, length=settings["context"])
    dry = build_dry(lambda: kind.build(config, encoder.spec))
    weights = read_foreign_weights(folder / WEIGHTS, dry)
    rows, count = len(weights["wte.weight"]), 1 + int(vocabulary.places.max())
    if rows != count:
        raise DataError(f"{folder} has weights for {rows} tokens, its tokenizer has {count}")
    return _Imported(
        section={"name": "gpt", **to_mapping(config)},
        spec=encoder.spec,
        preprocessor=encoder,
        task=LanguageModelling(encoder.spec.num_outputs),
        weights=vocabulary.reordered(weights),
    )


def _check_has(folder: Path, *names: str) -> None:
    """Refuse a folder without one of these files, or with a link, which may lead anywhere."""
    for name in names:
        if not has_file(folder / name):
            raise ConfigError(f"{folder} has no {name}")


def _filled(imported: _Imported, path: Path) -> nn.Module:
    """The model with the weights, all of them finite and in their shapes."""
    name = imported.section["name"]
    kind = MODELS.load(name)
    settings = {key: value for key, value in imported.section.items() if key != "name"}
    with seeded(0):
        model = kind.build(parse(kind.settings, settings, "model"), imported.spec)
    for key, own in model.state_dict().items():
        given = imported.weights[key]
        if given.shape != own.shape:
            raise ConfigError(
                f"the weights of {path} do not fit {name}: {key!r} is {tuple(given.shape)} there "
                f"and {tuple(own.shape)} here"
            )
        if given.is_floating_point():
            check_finite(f"the weights {key!r} of {path}", given)
    model.load_state_dict(dict(imported.weights))
    return model


def _write(imported: _Imported, model: nn.Module, path: Path, out: Path | None) -> Path:
    name, outputs = imported.section["name"], imported.spec.num_outputs
    was_there = out is not None and out.exists()
    folder = create_run_folder(out, name, STATUS)
    try:
        config = {"model": imported.section, "data": {"name": "", "imported": path.name}}
        write_text(folder / "config.yaml", to_yaml({**config, "train": {}, "seed": 0}))
        write_json(folder / "env.json", describe_environment(torch.device("cpu")))
        write_model(
            folder,
            model,
            imported.section,
            name=STATUS,
            spec=imported.spec,
            preprocessor=imported.preprocessor,
            task=imported.task,
            guess=torch.full((outputs,), 1 / outputs),
        )
        write_json(folder / "results.json", _results(model))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if was_there:
            folder.mkdir()
        raise
    return folder


def _results(model: nn.Module) -> dict[str, Any]:
    """Nothing was measured: there are no data."""
    return {
        "status": STATUS,
        "finished": True,
        "split": "test",
        "metrics": {},
        "baseline": {},
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "epochs": 0,
        "steps": 0,
        "notes": [],
        "findings": [],
    }
