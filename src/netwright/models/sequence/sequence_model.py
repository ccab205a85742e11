"""What models of sequences share: tokens become vectors, a recurrence reads, a head answers.

The target decides what the head answers: a token or a tag at each step, or one class or real for
the whole sequence.

Shapes: B batch, T steps, D inputs a step, H outputs a step, K outputs (tokens, tags, classes).
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from netwright.core.config import Doc, Fraction, Size
from netwright.core.errors import ConfigError
from netwright.core.outputs import UnscoredTokens
from netwright.core.trees import map_tensors, tensors_of
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.recurrence.recurrence import Recurrence, State
from netwright.layers.recurrence.sequence_pooling import Pooling, pool_steps
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Model


@dataclass(frozen=True, kw_only=True)
class SequenceConfig(FirstVectorsConfig):
    """Settings that all models of sequences have."""

    hidden: Annotated[Size, Doc("hidden units per layer")] = 128
    embedding: Annotated[Size, Doc("size of the token embedding; a series is used as it is")] = 128
    dropout: Annotated[
        Fraction, Doc("dropout on embeddings, between layers and before the output")
    ] = 0.2
    pool: Annotated[
        Pooling, Doc("pooling for one prediction per sequence: the last step, the mean or the max")
    ] = "last"


class SequenceModel(GrownBuffers, Model):
    """The abstract kind: a subclass gives its config, its card and `make_backbone`.

    Args:
        config: the settings.
        spec: of the data.
        tied: the matrix that turns tokens into vectors also scores them at the end.
        bidirectional: the backbone also reads from the end.
    """

    inputs: ClassVar[frozenset[InputKind]] = frozenset({"tokens", "series"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset(
        {"tokens", "tags", "class", "labels", "real"}
    )
    grown: ClassVar[tuple[str, ...]] = ("carried",)
    context: ClassVar[int | None] = None  # it can look back on any number of tokens
    carried: Tensor

    def __init__(
        self,
        config: SequenceConfig,
        spec: DataSpec,
        *,
        tied: bool = False,
        bidirectional: bool = False,
    ) -> None:
        super().__init__(config, spec)
        self.pool, self.tied, self.bidirectional = config.pool, tied, bidirectional
        self.embedding = (
            nn.Embedding(spec.vocab_size, config.embedding, padding_idx=spec.padding)
            if spec.inputs == "tokens" and not tied
            else None
        )
        width = config.embedding if spec.inputs == "tokens" else spec.input_shape[-1]
        self.backbone = self.make_backbone(config, width)
        if tied:
            _check_tied(config, spec, self.backbone.output_size)
        self.dropout = nn.Dropout(config.dropout)
        self.head = self.make_head()
        self.is_carrying = False
        self.register_buffer("carried", _no_rows(self.backbone.start(0)))

    @classmethod
    def build(cls, config: Any, spec: DataSpec) -> Self:
        """A model with as many inputs and outputs as the data has."""
        return cls(config, spec)

    def word_table(self) -> Tensor | None:
        """The vectors of the tokens (V, D); where they are tied, those that score them."""
        if self.tied:
            return self.head.get_parameter("weight")
        return None if self.embedding is None else self.embedding.weight

    @abstractmethod
    def make_backbone(self, config: Any, input_size: int) -> Recurrence:
        """What reads the sequence: (B, T, D) -> (B, T, H)."""

    def make_head(self) -> nn.Module:
        """What turns outputs into answers: H -> K."""
        return nn.Linear(self.backbone.output_size, self.spec.num_outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        """Tokens (B, T) or a series (B, T, D) -> (B, T, K) for tokens and tags, else (B, K)."""
        lengths = self.lengths(inputs)
        outputs = self._outputs(inputs, lengths)
        if self.spec.target not in {"tokens", "tags"}:
            outputs = pool_steps(outputs, self.pool, lengths, bidirectional=self.bidirectional)
        return self.answer(outputs)

    def _outputs(self, inputs: Tensor, lengths: Tensor | None) -> Tensor:
        """What the backbone gives at all steps (B, T, H); a state that is carried moves on."""
        batch = inputs.shape[0]
        outputs, state = self.backbone(self.embed(inputs), self._first_state(batch), lengths)
        self._keep(state, batch)
        read: Tensor = outputs
        return read

    def embed(self, inputs: Tensor) -> Tensor:
        """Tokens (...) -> vectors (..., D); a series stays as it is."""
        if self.spec.inputs == "series":
            return inputs
        if self.embedding is None:
            vectors = embedding(inputs, self.head.get_parameter("weight"), self.spec.padding)
        else:
            vectors = self.embedding(inputs)
        dropped: Tensor = self.dropout(vectors)
        return dropped

    def answer(self, outputs: Tensor) -> Tensor:
        """(..., H) -> (..., K)."""
        answers: Tensor = self.head(self.dropout(outputs))
        return answers

    def lengths(self, inputs: Tensor) -> Tensor | None:
        """How many tokens of each row count (B,); None where nothing is filled up."""
        return None if self.spec.padding is None else (inputs != self.spec.padding).sum(1)

    def read(self, tokens: Tensor) -> tuple[Tensor, State]:
        """The logits after the last token (B, T) -> (B, K), and the state to go on from."""
        outputs, state = self.backbone(self.embed(tokens))
        return self.answer(outputs[:, -1]), state

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """One more token a row (B,): the logits after it (B, K), and the next state."""
        output, state = self.backbone.step(self.embed(tokens), state)
        return self.answer(output), state

    def one_way_recurrence(self) -> Recurrence | None:
        """What carries a state from the first step to the last; None where it reads both ways."""
        return None if self.bidirectional else self.backbone

    def carry_state(self, batch_size: int | None) -> None:
        """While training, a batch of this many rows begins where the last one ended.

        The state is carried without its gradient (truncated backpropagation through time), in a
        buffer, so that it is saved with the weights. A batch of another size begins at zero and
        leaves nothing. None: every batch begins at zero again; the state is kept, for training
        that goes on later.
        """
        self.is_carrying = batch_size is not None
        if batch_size is not None and len(self.carried) != batch_size:
            self.carried = self.carried.new_zeros(batch_size, self.carried.shape[1])

    def forget(self) -> None:
        """The next batch begins at zero."""
        self.carried.zero_()

    def _is_carried(self, batch: int) -> bool:
        return self.is_carrying and self.training and batch == len(self.carried)

    def _first_state(self, batch: int) -> State:
        if not self._is_carried(batch):
            return None
        return _as_state(self.carried.clone(), self.backbone.start(batch))

    def _keep(self, state: State, batch: int) -> None:
        if self._is_carried(batch):
            self.carried.copy_(_as_rows(state).detach())


def _no_rows(state: State) -> Tensor:
    """What `_as_rows` makes of no example; on the meta device `cat` would load torch's compiler."""
    parts = tensors_of(state)
    return parts[0].new_empty(0, sum(part.shape[1:].numel() for part in parts))


def _as_rows(state: State) -> Tensor:
    """All tensors of a state side by side: a row an example, (B, numbers)."""
    return torch.cat([part.flatten(1) for part in tensors_of(state)], dim=1)


def _as_state(rows: Tensor, like: State) -> State:
    """The state that `_as_rows` laid side by side, in the form of another."""
    sizes = [part[0].numel() for part in tensors_of(like)]
    parts = iter(torch.split(rows, sizes, dim=1))
    return map_tensors(lambda part: next(parts).view_as(part), like)


class ScoredByHead(SequenceModel):
    """The abstract kind whose head is one linear map: it can stop short of its logits."""

    def unscored(self, tokens: Tensor) -> UnscoredTokens:
        """What the logits (B, T, K) of a target of tokens are made of; see `forward`."""
        vectors: Tensor = self.dropout(self._outputs(tokens, self.lengths(tokens)))
        weight, bias = (self.head.get_parameter(name) for name in ("weight", "bias"))
        return UnscoredTokens(vectors, weight, bias)


def _check_tied(config: SequenceConfig, spec: DataSpec, outputs: int) -> None:
    """Refuse to tie what is not of one shape."""
    if spec.inputs != "tokens" or spec.target != "tokens":
        raise ConfigError(
            f"tied needs tokens as both inputs and targets, got {spec.inputs} and {spec.target}"
        )
    if config.embedding != outputs:
        raise ConfigError(f"tied needs embedding = {outputs}, got {config.embedding}")
