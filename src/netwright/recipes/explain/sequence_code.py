"""What the layers of a sequence model compute: the lines that the formula of its card is about.

Its own `forward` only says that a recurrence, or a stack of blocks, reads the sequence.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attentive_decoder import LookAfter, LookBefore, LookingDecoder
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.layers.recurrence.linear_recurrence import LinearRecurrence
from netwright.layers.recurrence.linear_recurrent_unit import LinearRecurrentUnit, eigenvalues
from netwright.layers.recurrence.minimal_recurrence import MinimalGRU, MinimalLSTM
from netwright.layers.recurrence.recurrent_cells import elman_step, gru_step, jordan_step, lstm_step
from netwright.layers.recurrence.scan import scan_by_steps
from netwright.models.model import Model
from netwright.models.sequence.elman import Elman
from netwright.models.sequence.encoder_decoder import EncoderDecoder
from netwright.models.sequence.gru import GRU
from netwright.models.sequence.jordan import Jordan
from netwright.models.sequence.lru import LRU
from netwright.models.sequence.lstm import LSTM
from netwright.models.sequence.min_recurrent import MinGRU, MinLSTM
from netwright.models.transformers.gpt import GPT

Functions = tuple[Callable[..., Any], ...]

# The loop is what a scan computes, in a form that can be read.
_SCAN: Functions = (LinearRecurrence.forward, scan_by_steps)

_LAYERS: Mapping[type[Model], Functions] = MappingProxyType(
    {
        Elman: (elman_step,),
        Jordan: (jordan_step,),
        LSTM: (lstm_step,),
        GRU: (gru_step,),
        MinGRU: (MinimalGRU.coefficients, *_SCAN),
        MinLSTM: (MinimalLSTM.coefficients, *_SCAN),
        LRU: (
            eigenvalues,
            LinearRecurrentUnit.coefficients,
            LinearRecurrentUnit.read_out,
            *_SCAN,
        ),
        EncoderDecoder: (
            LookBefore.forward,
            LookAfter.forward,
            LookingDecoder.look,
            masked_softmax,
        ),
        GPT: (
            TransformerBlock.forward,
            TransformerBlock._add,
            MultiHeadAttention.forward,
            MultiHeadAttention.attention_weights,
        ),
    }
)


def layer_code(model: type[Model]) -> Functions:
    """The functions of its layers; none where the model is no sequence model."""
    return next((_LAYERS[kind] for kind in model.__mro__ if kind in _LAYERS), ())
