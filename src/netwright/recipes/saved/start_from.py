"""A new run from weights that are there: those of an old run, or of a file.

All parts of the model must be among them, in their shapes; tokens, and settings that shapes do not
show, must mean the same. Only the last part may be for other classes, also for another number of
them: it is a new head, which stays as it was drawn. So are parts that only the new task has
(`Model.task_parts`), while those that only the old one had are left out: a pre-trained model has
another head. What a model only carries from batch to batch is not taken.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from torch import Tensor, nn

from netwright.core.checks import check_finite
from netwright.core.errors import ConfigError
from netwright.core.files.inside import has_folder
from netwright.data.dataset import Data
from netwright.data.preprocessing import Preprocessor
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.pretraining.bert_vocabulary import read_bert_vocabulary, vocabulary_file
from netwright.data.text.pretraining.corrupted_encoder import CorruptedEncoder
from netwright.data.text.pretraining.masked_encoder import MaskedEncoder
from netwright.data.text.tokenizer import Tokenizer
from netwright.models.catalog import MODELS
from netwright.models.exchange.bert_weights import in_our_order
from netwright.models.exchange.foreign_weights import read_foreign_weights
from netwright.models.model import Model
from netwright.recipes.saved.run_folder import SavedModel, read_weights
from netwright.recipes.saved.trained_settings import check_settings
from netwright.train.carried_state import lasting_tensors
from netwright.train.parts import parts_of

CLOSE = 0.1  # of a channel's scale: two sets of photographs differ by less
WHOLE_TEXTS = (CorpusEncoder, MaskedEncoder, CorruptedEncoder)  # they have tokens of their own
SHOWN = 2  # names of classes or tokens


def take_weights(
    module: nn.Module, source: Path, class_names: Sequence[str] = ()
) -> tuple[str, ...]:
    """Give a module the weights of a run or of a file; gives what should be said of them.

    Args:
        module: as it was drawn.
        source: the folder of a run, or a .safetensors file with our names or those of torchvision,
            timm or GPT-2.
        class_names: of the data; where those of the run are others, the head is a new one.
    """
    weights, old_names = _weights_and_classes(source, module)
    own, paths = lasting_tensors(module), [part.path for part in parts_of(module)]
    fleeting = {name: held for name, held in module.state_dict().items() if name not in own}
    weights = {name: weight for name, weight in weights.items() if name not in fleeting}
    weights, added, without = _of_this_task(weights, module)
    head = paths[-1] if len(paths) > 1 else ""  # a head alone would keep nothing
    in_head = [name for name in own if name.startswith(f"{head}.")]
    new = [name for name in in_head if _has_other_outputs(weights.get(name), own[name])]
    difference, told = _first_difference(weights, own, but_for=[*new, *added]), ""
    if added or without:
        told = _what_differs(added, without)
        new = [*new, *added]
    elif new:
        was, wanted = (len(tensors[new[0]]) for tensors in (weights, own))
        told = f"new head: {head} has {wanted} outputs instead of {was}"
    elif old_names and class_names and old_names != tuple(class_names):
        there, here = _where_they_differ(old_names, class_names)
        if not head:
            difference = difference or f"its classes are {there} there and {here} here"
        new, told = in_head, f"new head: {head} is for different classes: {here} instead of {there}"
    if difference:
        raise ConfigError(f"the weights of {source} do not fit this model: {difference}")
    for name, weight in weights.items():
        check_finite(f"the weights {name!r} of {source}", weight)
    remarks = check_settings(module, source)
    module.load_state_dict({**weights, **{name: own[name] for name in new}, **fleeting})
    return (told, *remarks) if told else remarks


def _of_this_task(
    weights: Mapping[str, Tensor], module: nn.Module
) -> tuple[dict[str, Tensor], list[str], list[str]]:
    """The weights without those of another task; the names that are new, and those left out."""
    parts = module.task_parts if isinstance(module, Model) else frozenset()
    own = {name for name in module.state_dict() if name.partition(".")[0] in parts}
    there = {name for name in weights if name.partition(".")[0] in parts}
    kept = {name: weight for name, weight in weights.items() if name not in there - own}
    return kept, sorted(own - there), sorted(there - own)


def _what_differs(added: Sequence[str], without: Sequence[str]) -> str:
    """Which parts are new, and which are not taken."""
    new, old = (sorted({name.partition(".")[0] for name in names}) for names in (added, without))
    said = [f"new: {', '.join(new)}"] if new else []
    return "; ".join([*said, f"not taken: {', '.join(old)}"] if old else said)


def check_tokens(source: Path, data: Data) -> None:
    """Refuse the weights of a run whose tokens are others: each vector would mean another token."""
    for was, now in zip(_known_tokens(source), _vocabularies(data.preprocessor), strict=False):
        if was != now:
            there, here = _where_they_differ(was, now)
            takes_others = not isinstance(data.preprocessor, WHOLE_TEXTS)
            way_out = f"; take its tokens by --set data.vocabulary={source}" if takes_others else ""
            raise ConfigError(
                f"the weights of {source} do not fit these data: the first tokens that differ are "
                f"{there} there and {here} here{way_out}"
            )


def _known_tokens(source: Path) -> tuple[tuple[str, ...], ...]:
    """The tokens of a run, or of a BERT whose vocabulary lies beside its weights."""
    if has_folder(source / "model"):
        return _vocabularies(SavedModel(source / "model").preprocessor)
    file = vocabulary_file(source)
    return () if file is None else (_quoted(read_bert_vocabulary(file).tokenizer),)


def _vocabularies(preprocessor: Preprocessor) -> tuple[tuple[str, ...], ...]:
    """The tokens of each tokenizer, in order and quoted; none where nothing is text."""
    tokenizers: tuple[Tokenizer, ...] = ()
    if isinstance(preprocessor, TextEncoder):
        tokenizers = (preprocessor.tokenizer,)
    elif isinstance(preprocessor, PairEncoder):
        tokenizers = (preprocessor.source, preprocessor.target)
    return tuple(map(_quoted, tokenizers))


def _quoted(tokenizer: Tokenizer) -> tuple[str, ...]:
    return tuple(map(repr, tokenizer.tokens))


def compare_scaling(source: Path, data: Data) -> tuple[str, ...]:
    """What should be said where a run saw pixels on another scale than these data give."""
    if not has_folder(source / "model"):
        return ()
    saved = SavedModel(source / "model")
    kinds = {(spec.inputs, spec.input_shape[0]) for spec in (saved.spec, data.spec)}
    channels = data.spec.input_shape[0]
    if kinds != {("image", channels)}:
        return ()
    was, now = (_by_channel(kept, channels) for kept in (saved.preprocessor, data.preprocessor))
    for before, here in zip(was, now, strict=True):
        if max(abs(here[0] - before[0]), abs(here[1] - before[1])) > CLOSE * before[1]:
            return (
                f"pixels are scaled differently from {source}: by (x - {before[0]:.4g}) / "
                f"{before[1]:.4g} there, by (x - {here[0]:.4g}) / {here[1]:.4g} here",
            )
    return ()


def _by_channel(preprocessor: Preprocessor, channels: int) -> list[tuple[float, float]]:
    """Offset and scale of each channel."""
    offset, scale = (unit.reshape(channels, -1)[:, 0].tolist() for unit in preprocessor.units())
    return list(zip(offset, scale, strict=True))


def _weights_and_classes(
    source: Path, module: nn.Module
) -> tuple[Mapping[str, Tensor], tuple[str, ...]]:
    """The weights of a run or of a file, and the names of its classes where they are known."""
    if not source.exists():
        raise ConfigError(f"from must be a run or a .safetensors file: there is no {source}")
    if has_folder(source / "model"):
        saved = SavedModel(source / "model")
        return saved.weights, saved.spec.class_names
    if source.is_dir():
        return read_weights(source), ()
    weights, file = read_foreign_weights(source, module), vocabulary_file(source)
    if file is not None and isinstance(module, MODELS.load("bert")):
        weights = in_our_order(weights, read_bert_vocabulary(file).places)
    return weights, ()


def _where_they_differ(there: Sequence[str], here: Sequence[str]) -> Iterator[str]:
    """The first names in which two lists differ, of each list a few."""
    pairs = enumerate(zip_longest(there, here))
    first = next(place for place, (was, now) in pairs if was != now)
    for names in (there, here):
        more = " ..." if len(names) > first + SHOWN else ""
        yield ", ".join(names[first : first + SHOWN]) + more or "none"


def _has_other_outputs(was: Tensor | None, wanted: Tensor) -> bool:
    """Whether a weight differs in its number of outputs, and in nothing else."""
    if was is None or was.shape == wanted.shape or was.ndim != wanted.ndim:
        return False
    return was.shape[1:] == wanted.shape[1:]


def _first_difference(
    there: Mapping[str, Tensor], here: Mapping[str, Tensor], *, but_for: Collection[str]
) -> str:
    for name in [*here, *(name for name in there if name not in here)]:
        was, wanted = _shape(there.get(name)), _shape(here.get(name))
        if was == wanted or name in but_for:
            continue
        channels = [_channels(weights.get(name)) for weights in (there, here)]
        if name == next(iter(here)) and all(channels) and channels[0] != channels[1]:
            return f"the channels of an image are {channels[0]} there and {channels[1]} here"
        return f"{name!r} is {was} there and {wanted} here"
    return ""


def _shape(weight: Tensor | None) -> str:
    if weight is None:
        return "absent"
    return "x".join(map(str, weight.shape)) or "one number"


def _channels(weight: Tensor | None) -> int:
    """The channels of an image that a kernel takes; 0 of what is no kernel."""
    return 0 if weight is None or weight.ndim != 4 else weight.shape[1]
