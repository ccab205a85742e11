r"""The encoder-decoder: one recurrent network reads a source, another says the target.

    h_1 ... h_S = encoder(source),   s_0 = the encoder's last state,   p(y_i | y_{<i}) from s_i, c_i

Without attention s_0 is all that the decoder knows, however long the source is; with it the decoder
looks back at every h_j, by weights of its own at each step
(`layers/attention/attentive_decoder.py`).

Shapes: B batch, S source tokens, T target tokens, H units, V different target tokens; inputs are
(B, S + T), the source and then what the decoder is told.
Source: Cho et al. (2014), arXiv 1406.1078; Sutskever, Vinyals and Le (2014), arXiv 1409.3215.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.core.errors import ConfigError
from netwright.core.trees import Tree
from netwright.data.loading.by_length import split_pairs
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.decoding.source_decoder import SourceDecoder
from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attention_scores import AdditiveScore, BilinearScore, DotScore
from netwright.layers.attention.attentive_decoder import (
    AttentiveDecoder,
    LookAfter,
    LookBefore,
    LookingDecoder,
    Memory,
    WithoutAttention,
)
from netwright.layers.attention.masks import length_mask
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import ELMAN, GRU, LSTM, Cell, States
from netwright.layers.recurrence.recurrent_initializers import start_remembering
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.model import Functions, Model

Attention = Literal["none", "bahdanau", "luong-dot", "luong-general"]
_CELLS: Mapping[str, Cell] = {"gru": GRU, "lstm": LSTM, "elman": ELMAN}


@dataclass(frozen=True, kw_only=True)
class EncoderDecoderConfig(FirstVectorsConfig):
    """Settings of the encoder-decoder."""

    cell: Annotated[Literal["gru", "lstm", "elman"], Doc("kind of recurrent cell")] = "gru"
    hidden: Annotated[
        Size, Doc("units of the decoder, and of the encoder, both directions together")
    ] = 128
    layers: Annotated[Size, Doc("number of stacked recurrent layers")] = 1
    embedding: Annotated[Size, Doc("size of the token embedding")] = 64
    dropout: Annotated[
        Fraction, Doc("dropout on embeddings, between layers and before the output")
    ] = 0.0
    bidirectional: Annotated[bool, Doc("bidirectional encoder")] = True
    attention: Annotated[
        Attention,
        Doc("attention over the source: none, before each step (bahdanau), or after it (luong)"),
    ] = "luong-general"

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        if self.bidirectional and self.hidden % 2:
            raise ConfigError(f"hidden must be even for a bidirectional encoder, got {self.hidden}")


class DecoderState(NamedTuple):
    """All that the next token depends on.

    Args:
        recurrent: of the decoder, each tensor (B, layers, H).
        memory: what was read of the source.
    """

    recurrent: States
    memory: Memory


class EncoderDecoder(Model, SourceDecoder):
    """Reads a source, then says its target; the training target is told to it step by step."""

    settings: ClassVar[type[Config]] = EncoderDecoderConfig
    code: ClassVar[Functions] = (
        LookBefore.forward,
        LookAfter.forward,
        LookingDecoder.look,
        masked_softmax,
    )
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"pairs"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"tokens"})
    card: ClassVar[Card] = Card(
        sentence="One recurrent network reads the source, another says the target, and at each "
        "step looks at the places of the source that it needs.",
        formula=r"\alpha_{ij} = \mathrm{softmax}_j\, a(s, h_j), \quad c_i = \sum_j \alpha_{ij} h_j,"
        r" \quad s_i = f(s_{i-1}, y_{i-1}, c_i), \quad p(y_i) = \mathrm{softmax}(V g(s_i, c_i))",
        symbols={
            "h_j": "the encoder's output at place j of the source, (H)",
            "s_i": "the decoder's state; a is asked with that before the step (Bahdanau) or after "
            "it (Luong), where c_i does not go into f",
            r"\alpha_{ij}": "the share of place j in step i, (T, S); without attention there is "
            "no c_i, and s_0 alone tells of the source",
            "y_i": "the token said, of V",
        },
        source="Bahdanau, Cho and Bengio (2015), arXiv 1409.0473; Luong, Pham and Manning (2015), "
        "arXiv 1508.04025",
        misprint="Where values are projected, v_j = W_v h_j, the context is the sum of "
        "a_ij v_j, not of a_ij h_j.",
    )

    def __init__(self, config: EncoderDecoderConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        width, cell = config.embedding, _CELLS[config.cell]
        self.source_embedding = nn.Embedding(spec.vocab_size, width, padding_idx=spec.padding)
        self.target_embedding = nn.Embedding(spec.num_outputs, width, padding_idx=spec.padding)
        self.encoder = RecurrentStack(
            cell,
            width,
            config.hidden // 2 if config.bidirectional else config.hidden,
            config.layers,
            bidirectional=config.bidirectional,
            dropout=config.dropout,
        )
        self.decoder = _decoder(config, cell)
        self.dropout = nn.Dropout(config.dropout)
        self.head = nn.Linear(config.hidden, spec.num_outputs)
        if config.cell == "lstm":
            start_remembering(self.encoder)
            start_remembering(self.decoder.recurrence)

    @classmethod
    def build(cls, config: EncoderDecoderConfig, spec: DataSpec) -> Self:
        """A model of both vocabularies."""
        return cls(config, spec)

    def word_table(self) -> Tensor:
        """The vectors of the source tokens (V, D)."""
        return self.source_embedding.weight

    def told_table(self) -> Tensor:
        """The vectors of the target tokens (V, D)."""
        return self.target_embedding.weight

    def forward(self, inputs: Tree) -> Tensor:
        """(B, S + T) -> logits (B, T, V), each told what came before it, or half of it.

        Source and told may also come apart, (B, S) and (B, T), and shorter.
        """
        source, told = split_pairs(inputs, self.spec.source_length)
        state = self.read_source(source)
        if self.training and self.teacher_forcing < 1:
            return self._half_told(told, state)
        logits, _, _ = self._say(told, state)
        return logits

    def read_source(self, source: Tensor) -> DecoderState:
        """(B, S) -> the state before the first token.

        A layer of the decoder begins where both directions of the encoder's ended, side by side.
        """
        counts = torch.ones_like(source, dtype=torch.bool)
        if self.spec.padding is not None:
            counts = source != self.spec.padding
        lengths = counts.sum(dim=1)
        embedded = self.dropout(self.source_embedding(source))
        places, last = self.encoder(embedded, lengths=lengths)
        layers = self.encoder.layers
        state = tuple(part.reshape(part.shape[0], layers, -1) for part in last)  # (B, layers, H)
        return DecoderState(state, Memory(places, length_mask(lengths, source.shape[1])))

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """The token before (B,) and a state -> logits of the next (B, V) and the next state."""
        logits, _, state = self._say(tokens[:, None], state)
        return logits[:, 0], state

    def attention_weights(self, inputs: Tensor) -> Tensor:
        """How much each step looks at each place of the source, (B, S + T) -> (B, T, S)."""
        source, told = split_pairs(inputs, self.spec.source_length)
        _, weights, _ = self._say(told, self.read_source(source))
        if weights is None:
            raise ConfigError("this encoder-decoder has no attention")
        return weights

    def _say(self, told: Tensor, state: DecoderState) -> tuple[Tensor, Tensor | None, DecoderState]:
        """Logits (B, T, V) of the tokens after those told (B, T), and where it looked (B, T, S)."""
        embedded = self.dropout(self.target_embedding(told))
        decoded = self.decoder(embedded, state.recurrent, state.memory)
        logits = self.head(self.dropout(decoded.features))
        return logits, decoded.weights, DecoderState(decoded.state, state.memory)

    def _half_told(self, told: Tensor, state: DecoderState) -> Tensor:
        """Logits (B, T, V) by scheduled sampling: at each step, row by row, truth or own word.

        Source: Bengio et al. (2015), arXiv 1506.03099.
        """
        logits, state = self.step(told[:, 0], state)
        steps = [logits]
        for truth in told[:, 1:].unbind(1):
            is_told = torch.rand(len(truth), device=truth.device) < self.teacher_forcing
            heard = torch.where(is_told, truth, logits.argmax(dim=1))
            logits, state = self.step(heard, state)
            steps.append(logits)
        return torch.stack(steps, dim=1)


def _decoder(config: EncoderDecoderConfig, cell: Cell) -> AttentiveDecoder:
    looks_before = config.attention == "bahdanau"
    size = config.hidden
    recurrence = RecurrentStack(
        cell,
        config.embedding + (size if looks_before else 0),
        size,
        config.layers,
        dropout=config.dropout,
    )
    if config.attention == "none":
        return WithoutAttention(recurrence)
    if looks_before:
        return LookBefore(recurrence, AdditiveScore(size, size))
    score = DotScore if config.attention == "luong-dot" else BilinearScore
    return LookAfter(recurrence, score(size, size))
