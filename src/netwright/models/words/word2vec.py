r"""Word2vec: vectors by which words predict the words around them.

Shapes: N rows of the text, T words of a row, L words in all, V words, D features.
Source: Mikolov et al., "Efficient Estimation of Word Representations in Vector Space" (2013);
"Distributed Representations of Words and Phrases and their Compositionality" (2013).
"""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import torch
from annotated_types import Interval
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Positive, Size
from netwright.core.errors import ConfigError, DataError
from netwright.core.learner import Examples, SteppedLearner
from netwright.core.seeding import derive_seed, generator
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.data.text.tokenizer import EOS, SPECIALS
from netwright.data.words.word_stream import Words, WordStream
from netwright.models.model import Model
from netwright.models.words.followed_words import (
    FOLLOWED,
    NEIGHBOURS,
    followed_words,
    nearest_words,
    noted_epochs,
)
from netwright.models.words.plain_word2vec import (
    bag_predictions,
    batches_of,
    negatives_step,
    skip_gram_predictions,
    softmax_step,
)
from netwright.models.words.word_noise import (
    AliasTable,
    alias_table,
    keep_chances,
    noise_chances,
)

COMPILED_STEP, PLAIN_STEP = 2**17, 2**13  # words of a step: about a tenth of a second each
MOST_STEPS = 2000  # of a run, so that its history stays short


@dataclass(frozen=True, kw_only=True)
class Word2VecConfig(Config):
    """Settings of word2vec."""

    dim: Annotated[Size, Doc("features of a word vector")] = 100
    architecture: Annotated[
        Literal["skip-gram", "cbow"],
        Doc("skip-gram: a word predicts its context; cbow: the mean of the context predicts it"),
    ] = "skip-gram"
    window: Annotated[
        int,
        Interval(ge=1, le=100),
        Doc("largest distance of a context word; each word draws its own from 1 to this"),
    ] = 5
    negatives: Annotated[
        int,
        Interval(ge=0, le=100),
        Doc("negative samples per pair; 0: the full softmax, for small vocabularies"),
    ] = 5
    sample: Annotated[
        Fraction, Doc("subsampling: words with a larger share of the text are left out at random")
    ] = 1e-3
    epochs: Annotated[Size, Doc("passes over the text")] = 5
    lr: Annotated[Positive, Doc("learning rate, decayed linearly to its floor")] = 0.025
    floor: Annotated[Fraction, Doc("final learning rate, as a fraction of lr")] = 0.0
    threads: Annotated[
        int,
        Interval(ge=1, le=256),
        Doc("threads of the compiled version; with more than one, runs differ in their numbers"),
    ] = 1
    version: Annotated[
        Literal["auto", "compiled", "plain"],
        Doc("compiled: by numba, with negatives; plain: torch; auto: compiled if it can"),
    ] = "auto"


class Word2Vec(Model, SteppedLearner):
    """Two vectors a word: v, which is kept, and u, its vector as a context."""

    settings: ClassVar[type[Config]] = Word2VecConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"tokens"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"none"})
    followed: Tensor
    nearest: Tensor
    card: ClassVar[Card] = Card(
        sentence="Learns a vector for each word of a text, by which it predicts the words around"
        " it.",
        formula=r"P(o \mid c) = \frac{e^{u_o \cdot v_c}}{\sum_w e^{u_w \cdot v_c}}; \quad"
        r" J = -\log \sigma(u_o \cdot v_c) - \sum_{k} \log \sigma(-u_{n_k} \cdot v_c)",
        symbols={
            "v_c": "vector of the word c, (D)",
            "u_o": "vector of the word o as a context, (D)",
            "n_k": "negative samples, drawn by count to the power 0.75",
        },
        source="Mikolov et al. (2013), arXiv:1301.3781 and arXiv:1310.4546",
        misprint="A step for the pair (cat, cute) is sometimes said to raise the product of v_cat"
        " with u_cat. It raises the product with u_cute.",
    )
    code = (skip_gram_predictions, softmax_step, negatives_step)

    def __init__(self, config: Word2VecConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.how = config
        size = (spec.vocab_size, config.dim)
        first = (torch.rand(size) - 0.5) / config.dim
        self.vectors = nn.Parameter(first, requires_grad=False)  # by its own rule, no gradient
        self.contexts = nn.Parameter(torch.zeros(size), requires_grad=False)
        others = max(spec.vocab_size - len(SPECIALS) - 1, 0)
        noted = (len(noted_epochs(config.epochs)), FOLLOWED, min(NEIGHBOURS, others))
        self.register_buffer("followed", torch.zeros(FOLLOWED, dtype=torch.int64))
        self.register_buffer("nearest", torch.zeros(noted, dtype=torch.int64))  # 0: not yet

    @classmethod
    def build(cls, config: Word2VecConfig, spec: DataSpec) -> Self:
        """Two vectors for each word of the vocabulary."""
        if config.version == "compiled":
            if not config.negatives:
                raise ConfigError(
                    "the compiled version needs negatives, got 0: leave out version=compiled"
                )
            if find_spec("numba") is None:
                raise ConfigError(
                    "version=compiled needs numba: pip install 'netwright[fast]', or leave it out"
                )
        return cls(config, spec)

    @property
    def is_compiled(self) -> bool:
        """Whether it learns by the compiled version."""
        on_cpu, fits = self.vectors.device.type == "cpu", self.how.negatives > 0
        return fits and on_cpu and self.how.version != "plain" and find_spec("numba") is not None

    def word_table(self) -> Tensor:
        """The vectors v of the words (V, D)."""
        return self.vectors

    def forward(self, tokens: Tensor) -> Tensor:
        """Words (B, T) -> their vectors v (B, T, D)."""
        return F.embedding(tokens, self.vectors)

    def forewarning(self, rows: int) -> str:
        """What is not exact, and what numba would gain."""
        if self.is_compiled:
            several = f"{self.how.threads} threads: two runs of one seed differ a little"
            return several if self.how.threads > 1 else ""
        device = self.vectors.device.type
        if device != "cpu":
            return f"on {device}, sums have no fixed order: two runs of one seed differ a little"
        if self.how.version == "auto" and find_spec("numba") is None:
            return "numba is not installed, the plain version is many times slower: pip install" + (
                " 'netwright[fast]'"
            )
        return ""

    def steps_per_epoch(self, data: Examples) -> int:
        """Stretches of the text."""
        return len(self._starts(_text(data)))

    def fit_steps_from(self, data: Examples, seed: int, made: int) -> Iterator[dict[str, float]]:
        """A stretch of the text a step; how it is drawn follows from the seed and its number."""
        text = _text(data)
        counts = _counts(text, self.spec.vocab_size)
        if np.count_nonzero(counts) < 2:
            raise DataError("word2vec needs a text of at least two different words")
        if counts.sum() <= self.how.window:
            raise DataError(
                f"the text has {counts.sum()} words, fewer than a window of {self.how.window} "
                f"reaches: --set model.window={max(1, int(counts.sum()) - 1)}"
            )
        starts = self._starts(text)
        total = self.how.epochs * len(starts)
        learn = self._compiled(counts) if self.is_compiled else self._plain(counts)
        chosen = torch.from_numpy(followed_words(counts)).to(self.followed)
        self.followed[: len(chosen)] = chosen
        for step in range(made, total):
            begin = starts[step % len(starts)]
            lr = self.how.lr * (1 - (1 - self.how.floor) * step / total)
            part = np.array(text[begin : begin + starts.step], dtype=np.int32)
            loss = learn(part, lr, derive_seed(seed, "word2vec", step))
            if (step + 1) % len(starts) == 0:
                self._note_neighbours((step + 1) // len(starts))
            yield {"loss": loss, "lr": lr}

    def _starts(self, text: Words) -> range:
        """Where the stretches of a text begin."""
        usual = COMPILED_STEP if self.is_compiled else PLAIN_STEP
        length = max(usual, math.ceil(self.how.epochs * len(text) / MOST_STEPS))
        return range(0, len(text), length)

    def _note_neighbours(self, epoch: int) -> None:
        """Keep which words are nearest to those that are followed, for the report."""
        epochs = noted_epochs(self.how.epochs)
        if epoch in epochs:
            found = nearest_words(self.vectors, self.followed, self.nearest.shape[2])
            self.nearest[epochs.index(epoch)] = found

    def _compiled(self, counts: NDArray[np.int64]) -> Any:
        """(words, lr, seed) -> loss, by the compiled version."""
        # Compiling takes seconds, and numba is an extra.
        from netwright.models.words.word2vec_kernels import learn_part  # noqa: PLC0415

        keep, how = keep_chances(counts, self.how.sample), self.how
        table: AliasTable = alias_table(noise_chances(counts))
        vectors, contexts = self.vectors.data.numpy(), self.contexts.data.numpy()

        def part_of(words: Words, lr: float, seed: int) -> tuple[float, float]:
            found: tuple[float, float] = learn_part(
                words,
                vectors,
                contexts,
                keep,
                *table,
                how.window,
                how.negatives,
                np.float32(lr),
                seed | 1,
                how.architecture == "cbow",
            )
            return found

        def learn(words: Words, lr: float, seed: int) -> float:
            if how.threads == 1:
                loss, pairs = part_of(words, lr, seed)
            else:
                parts = np.array_split(words, how.threads)
                seeds = [derive_seed(seed, place) for place in range(len(parts))]
                with ThreadPoolExecutor(how.threads) as pool:
                    found = list(pool.map(part_of, parts, [lr] * len(parts), seeds))
                loss, pairs = (sum(column) for column in zip(*found, strict=True))
            return float(loss / max(pairs, 1.0))

        return learn

    def _plain(self, counts: NDArray[np.int64]) -> Any:
        """(words, lr, seed) -> loss, step by step in torch."""
        keep, device = torch.from_numpy(keep_chances(counts, self.how.sample)), self.vectors.device
        noise = torch.from_numpy(noise_chances(counts))
        is_bag, negatives = self.how.architecture == "cbow", self.how.negatives
        vectors, contexts = self.vectors.data, self.contexts.data

        def learn(words: Words, lr: float, seed: int) -> float:
            numbers = generator(seed, "plain")
            text = torch.from_numpy(words).long()
            text = text[torch.rand(text.shape, generator=numbers) < keep[text]]
            text = torch.where(text < len(SPECIALS), -1, text)
            pairs = (bag_predictions if is_bag else skip_gram_predictions)(
                text, self.how.window, numbers
            )
            loss, count = torch.zeros((), device=device), 0
            for batch in batches_of(pairs, len(vectors), numbers):
                rows = len(batch.outputs)
                here = type(batch)(*(part.to(device) for part in batch))
                if negatives:
                    drawn = noise.multinomial(rows * negatives, True, generator=numbers)
                    mean = negatives_step(
                        vectors, contexts, here, drawn.view(rows, negatives).to(device), lr
                    )
                else:
                    mean = softmax_step(vectors, contexts, here, lr)
                loss, count = loss + rows * mean, count + rows
            return float(loss / max(count, 1))

        return learn


def _text(data: Examples) -> Words:
    """The words that are learned from (L,)."""
    return data.words if isinstance(data, WordStream) else _ended(data.inputs)


def _ended(rows: Tensor) -> Words:
    """The words of rows (N, T) that are texts of their own: the end of a text after each (L,)."""
    return F.pad(rows.cpu(), (0, 1), value=EOS).int().flatten().numpy()


def _counts(text: Words, size: int) -> NDArray[np.int64]:
    """How often each word occurs (V,); of what is no word 0."""
    counts = np.zeros(size, dtype=np.int64)
    for begin in range(0, len(text), 2**22):
        counts += np.bincount(text[begin : begin + 2**22], minlength=size)
    counts[: len(SPECIALS)] = 0
    return counts
