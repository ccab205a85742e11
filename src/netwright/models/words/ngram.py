r"""The n-gram language model: what followed the last few tokens before, and how often.

    p_k(w | h) = max(c_k(h w) - D_k, 0) / c_k(h) + D_k N(h) / c_k(h) p_{k-1}(w | h')
    p_0(w)     = 1 / V

h are the k - 1 tokens before w, h' is h without its first, N(h) the number of different tokens seen
after h. c_n counts; c_k for k < n is the number of different tokens that stood before (Kneser and
Ney): "Francisco" is frequent, but follows "San" alone. A context that was never seen says nothing:
p_k is then p_{k-1}. Order 2 is a Markov chain over tokens.

The n-grams of each length are kept as a sorted list of numbers: place of its first k - 1 tokens
in the list before, times V, plus its last token. What follows a context thus lies together.

Shapes: B batch, T tokens, V kinds of token, M n-grams of one length, P contexts.
Source: Shannon (1948) for n-grams; Kneser and Ney, "Improved Backing-off for M-gram Language
Modeling" (1995), interpolated as in Chen and Goodman (1999).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, Self

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.errors import DataError
from netwright.core.learner import Examples, Learner
from netwright.data.loading.windows import WindowSplit
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Functions, Model

HIGHEST = 10  # order


@dataclass(frozen=True, kw_only=True)
class NGramConfig(Config):
    """Settings of the n-gram language model."""

    order: Annotated[
        int,
        Interval(ge=1, le=HIGHEST),
        Doc("n: a token is predicted from the n - 1 before it; 2 is a Markov chain"),
    ] = 5
    discount: Annotated[
        float | None,
        Interval(gt=0, lt=1),
        Doc("subtracted from each count, for unseen tokens; null: n1 / (n1 + 2 n2) per length"),
    ] = None


class Level(NamedTuple):
    """The n-grams of one length.

    Args:
        keys: of each, the place of its context times V plus its last token, sorted (M,).
        sums: their counts, added up, beginning with 0 (M + 1,).
        kinds: how many of them have a count, added up in the same way (M + 1,).
    """

    keys: Tensor
    sums: Tensor
    kinds: Tensor


class NGram(GrownBuffers, Model, Learner):
    """Counts of n-grams, interpolated by Kneser and Ney's rule; nothing is trained by gradients."""

    settings: ClassVar[type[Config]] = NGramConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"tokens"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"tokens"})
    grown: ClassVar[tuple[str, ...]] = tuple(
        f"{name}_{length}" for name in Level._fields for length in range(1, HIGHEST + 1)
    )
    context: ClassVar[int | None] = None  # texts may be of any length
    card: ClassVar[Card] = Card(
        sentence="Predicts the next token by what followed the last n - 1 tokens in the text,"
        " interpolated with shorter contexts.",
        formula=r"p_k(w \mid h) = \frac{\max(c_k(hw) - D_k, 0)}{c_k(h)} +"
        r" \frac{D_k N(h)}{c_k(h)} \, p_{k-1}(w \mid h'), \quad p_0(w) = \frac{1}{V}",
        symbols={
            "h": "the k - 1 tokens before w; h' is h without its first",
            "c_n": "how often the n-gram occurs",
            "c_k": "for k < n, how many different tokens precede it",
            "N(h)": "how many different tokens follow h",
            "D_k": "discount",
        },
        source="Kneser and Ney (1995), ICASSP; Chen and Goodman (1999)",
    )
    discounts: Tensor

    def __init__(self, config: NGramConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.order, self.discount = config.order, config.discount
        self.register_buffer("discounts", torch.zeros(config.order))
        empty = Level(*(torch.zeros(size, dtype=torch.int64) for size in (0, 1, 1)))
        for length in range(1, config.order + 1):
            self._keep(length, empty)

    @classmethod
    def build(cls, config: NGramConfig, spec: DataSpec) -> Self:
        """A model of as many tokens as the data has."""
        return cls(config, spec)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) -> the log-probabilities of what follows each token (B, T, V)."""
        reach = min(self.order - 1, tokens.shape[1])
        before = tokens.new_full((tokens.shape[0], reach), -1)  # no token: nothing is known of it
        histories = torch.cat((before, tokens), dim=1).unfold(1, reach + 1, 1)[..., 1:]
        return self._next(histories.reshape(tokens.numel(), reach)).view(*tokens.shape, -1)

    def read(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The log-probabilities after a text (B, V), and its last tokens (B, n - 1)."""
        last = tokens[:, max(0, tokens.shape[1] - self.order + 1) :]
        return self._next(last), last

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The same after one more token a row (B,)."""
        return self.read(torch.cat((state, tokens[:, None]), dim=1))

    def _next(self, histories: Tensor) -> Tensor:
        """Log-probabilities (P, V) of what follows the tokens of each row (P, R)."""
        count, reach = histories.shape
        size = self.spec.vocab_size
        even = torch.full((1, size), 1 / size, device=histories.device)
        alone = self._interpolate(even, 1, self._find(histories[:1, :0]))  # the same for all rows
        p = alone.repeat(count, 1)
        for length in range(2, min(self.order, reach + 1) + 1):
            places = self._find(histories[:, reach - length + 1 :])
            p = self._interpolate(p, length, places)
        return p.log()

    def _find(self, contexts: Tensor) -> Tensor:
        """Where the list of n-grams has each context (P, K): places (P,), -1 where it has none."""
        places = torch.zeros(len(contexts), dtype=torch.int64, device=contexts.device)
        for length in range(1, contexts.shape[1] + 1):
            token, keys = contexts[:, length - 1], self._level(length).keys
            wanted = places * self.spec.vocab_size + token
            found = torch.searchsorted(keys, wanted).clamp(max=max(len(keys) - 1, 0))
            is_known = (places >= 0) & (token >= 0) & (len(keys) > 0)
            if len(keys):
                is_known &= keys[found] == wanted
            places = torch.where(is_known, found, -1)
        return places

    def _interpolate(self, p: Tensor, length: int, places: Tensor) -> Tensor:
        """p_k (P, V) from p_{k-1}, for contexts at these places (P,)."""
        level, size = self._level(length), self.spec.vocab_size
        bounds = torch.stack((places, places + 1)).clamp(min=0) * size
        begin, end = torch.searchsorted(level.keys, bounds)
        total = level.sums[end] - level.sums[begin]
        kinds = level.kinds[end] - level.kinds[begin]
        is_known = (places >= 0) & (total > 0)
        begin, end, total = begin[is_known], end[is_known], total[is_known].to(p)
        discount = self.discounts[length - 1]
        p[is_known] *= (discount * kinds[is_known] / total)[:, None]
        many = end - begin
        rows = torch.arange(len(many), device=p.device).repeat_interleave(many)
        offsets = torch.arange(len(rows), device=p.device) - (many.cumsum(0) - many)[rows]
        grams = begin[rows] + offsets
        counts = (level.sums[grams + 1] - level.sums[grams]).to(p)
        shares = (counts - discount).clamp(min=0) / total[rows]
        seen = is_known.nonzero()[:, 0]
        p.index_put_((seen[rows], level.keys[grams] % size), shares, accumulate=True)
        return p

    code: ClassVar[Functions] = (_interpolate,)

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step: count the n-grams of the text."""
        if isinstance(data, WindowSplit):
            rows = data.stream[None]  # windows may overlap
        else:
            rows = torch.cat((data.inputs, data.targets[:, -1:]), dim=1)
        if rows.shape[1] < self.order:
            raise DataError(
                f"an n-gram of order {self.order} needs texts of as many tokens, got "
                f"{rows.shape[1]}: --set model.order={rows.shape[1]}"
            )
        size = self.spec.vocab_size
        keys, counts, ids = _unique(rows)
        for length in range(1, self.order + 1):
            if length == self.order:
                weights = counts
            else:
                # n-grams of the next length, each once: which of these is what ends it?
                longer, longer_counts, longer_ids = _unique(ids[:, :-1] * size + rows[:, length:])
                tails = torch.empty_like(longer)
                tails[longer_ids.flatten()] = ids[:, 1:].flatten()
                weights = torch.bincount(tails, minlength=len(keys))
            self._keep(length, _level_of(keys, weights))
            self.discounts[length - 1] = self._discount_of(weights)
            if length < self.order:
                keys, counts, ids = longer, longer_counts, longer_ids
        yield {"ngrams": float(sum(len(self._level(k).keys) for k in range(1, self.order + 1)))}

    def _discount_of(self, weights: Tensor) -> float:
        """D of one length: the given one, or n1 / (n1 + 2 n2); a half where no count is 1 or 2."""
        if self.discount is not None:
            return self.discount
        once, twice = (int((weights == times).sum()) for times in (1, 2))
        return once / (once + 2 * twice) if once and twice else 0.5

    def _level(self, length: int) -> Level:
        return Level(*(getattr(self, f"{name}_{length}") for name in Level._fields))

    def _keep(self, length: int, level: Level) -> None:
        for name, values in level._asdict().items():
            self.register_buffer(f"{name}_{length}", values)


def _unique(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The different values, sorted, how often each occurs, and which one stands at each place."""
    found, places, counts = torch.unique(values, return_inverse=True, return_counts=True)
    return found, counts, places


def _level_of(keys: Tensor, weights: Tensor) -> Level:
    """A level by its keys and their counts (M,)."""
    sums, kinds = (
        torch.cat((part.new_zeros(1), part.cumsum(0))) for part in (weights, (weights > 0).long())
    )
    return Level(keys, sums, kinds)
