"""Layers: the parts that models are built from, where torch does not have them already."""

from typing import TYPE_CHECKING

from netwright.core.lazy_names import homes_in, lazy_names
from netwright.layers.softmax import softmax as softmax

if TYPE_CHECKING:
    from netwright.layers.activations import ACTIVATIONS as ACTIVATIONS
    from netwright.layers.activations import Activation as Activation
    from netwright.layers.activations import build_activation as build_activation
    from netwright.layers.attention.attention import attend as attend
    from netwright.layers.attention.attention import masked_softmax as masked_softmax
    from netwright.layers.attention.attention_scores import SCORES as SCORES
    from netwright.layers.attention.attention_scores import AdditiveScore as AdditiveScore
    from netwright.layers.attention.attention_scores import BilinearScore as BilinearScore
    from netwright.layers.attention.attention_scores import CosineScore as CosineScore
    from netwright.layers.attention.attention_scores import DotScore as DotScore
    from netwright.layers.attention.attention_scores import ScaledDotScore as ScaledDotScore
    from netwright.layers.attention.attention_scores import Score as Score
    from netwright.layers.attention.bigbird_attention import BigBirdAttention as BigBirdAttention
    from netwright.layers.attention.bigbird_attention import BigBirdBlocks as BigBirdBlocks
    from netwright.layers.attention.bigbird_attention import bigbird_attention as bigbird_attention
    from netwright.layers.attention.cross_attention import CrossAttention as CrossAttention
    from netwright.layers.attention.decoder_block import DecoderBlock as DecoderBlock
    from netwright.layers.attention.feedforward import FeedForward as FeedForward
    from netwright.layers.attention.feedforward import GatedFeedForward as GatedFeedForward
    from netwright.layers.attention.gaussian_window import gaussian_window as gaussian_window
    from netwright.layers.attention.hierarchical_attention import (
        HierarchicalAttention as HierarchicalAttention,
    )
    from netwright.layers.attention.hierarchical_attention import (
        hierarchical_attention as hierarchical_attention,
    )
    from netwright.layers.attention.hopfield import Hopfield as Hopfield
    from netwright.layers.attention.hopfield import hopfield_energy as hopfield_energy
    from netwright.layers.attention.hopfield import hopfield_retrieval as hopfield_retrieval
    from netwright.layers.attention.kernels import KERNELS as KERNELS
    from netwright.layers.attention.kernels import Kernel as Kernel
    from netwright.layers.attention.kernels import kernel_pooling as kernel_pooling
    from netwright.layers.attention.key_value_cache import KeyValueCache as KeyValueCache
    from netwright.layers.attention.linear_attention import LinearAttention as LinearAttention
    from netwright.layers.attention.linear_attention import linear_attention as linear_attention
    from netwright.layers.attention.linear_attention import linear_step as linear_step
    from netwright.layers.attention.masks import causal_mask as causal_mask
    from netwright.layers.attention.masks import length_mask as length_mask
    from netwright.layers.attention.multihead_attention import (
        MultiHeadAttention as MultiHeadAttention,
    )
    from netwright.layers.attention.position_encoding import LearnedPositions as LearnedPositions
    from netwright.layers.attention.position_encoding import Rotary as Rotary
    from netwright.layers.attention.position_encoding import (
        SinusoidalPositions as SinusoidalPositions,
    )
    from netwright.layers.attention.position_encoding import (
        sinusoidal_encoding as sinusoidal_encoding,
    )
    from netwright.layers.attention.relative_positions import AlibiBias as AlibiBias
    from netwright.layers.attention.relative_positions import (
        RelativePositionBias as RelativePositionBias,
    )
    from netwright.layers.attention.relative_positions import alibi_bias as alibi_bias
    from netwright.layers.attention.streaming_attention import (
        streaming_attention as streaming_attention,
    )
    from netwright.layers.attention.transformer_block import TransformerBlock as TransformerBlock
    from netwright.layers.attention.window_attention import WindowAttention as WindowAttention
    from netwright.layers.attention.window_attention import window_attention as window_attention
    from netwright.layers.convolution.centre_surround import centre_surround as centre_surround
    from netwright.layers.convolution.convolution import convolve as convolve
    from netwright.layers.convolution.convolution import correlate as correlate
    from netwright.layers.convolution.convolution_matrix import (
        convolution_matrix as convolution_matrix,
    )
    from netwright.layers.convolution.convolution_matrix import (
        correlation_matrix as correlation_matrix,
    )
    from netwright.layers.convolution.locally_connected import (
        LocallyConnected2d as LocallyConnected2d,
    )
    from netwright.layers.convolution.pooling import GaussianPool2d as GaussianPool2d
    from netwright.layers.convolution.receptive_field import ReceptiveField as ReceptiveField
    from netwright.layers.convolution.receptive_field import receptive_fields as receptive_fields
    from netwright.layers.convolution.residual_block import BasicBlock as BasicBlock
    from netwright.layers.convolution.residual_block import Bottleneck as Bottleneck
    from netwright.layers.initializer import Initializer as Initializer
    from netwright.layers.initializers import INITIALIZERS as INITIALIZERS
    from netwright.layers.initializers import initialize as initialize
    from netwright.layers.norms import NORMS as NORMS
    from netwright.layers.patches import PatchEmbedding as PatchEmbedding
    from netwright.layers.patches import patchify as patchify
    from netwright.layers.patches import unpatchify as unpatchify
    from netwright.layers.recurrence.jordan import JordanLayer as JordanLayer
    from netwright.layers.recurrence.linear_recurrence import LinearRecurrence as LinearRecurrence
    from netwright.layers.recurrence.linear_recurrent_unit import (
        LinearRecurrentUnit as LinearRecurrentUnit,
    )
    from netwright.layers.recurrence.minimal_recurrence import MinimalGRU as MinimalGRU
    from netwright.layers.recurrence.minimal_recurrence import MinimalLSTM as MinimalLSTM
    from netwright.layers.recurrence.recurrence import Recurrence as Recurrence
    from netwright.layers.recurrence.recurrent import RecurrentStack as RecurrentStack
    from netwright.layers.recurrence.recurrent_cells import elman_step as elman_step
    from netwright.layers.recurrence.recurrent_cells import gru_step as gru_step
    from netwright.layers.recurrence.recurrent_cells import jordan_step as jordan_step
    from netwright.layers.recurrence.recurrent_cells import lstm_step as lstm_step
    from netwright.layers.recurrence.scan import parallel_scan as parallel_scan
    from netwright.layers.recurrence.scan import scan as scan
    from netwright.layers.residual import Residual as Residual
    from netwright.layers.softmax import log_sum_exp as log_sum_exp
    from netwright.layers.softmax import softmax_jacobian as softmax_jacobian
    from netwright.layers.threshold import heaviside as heaviside
    from netwright.layers.threshold import sign as sign

_HOMES = homes_in(
    __name__,
    {
        "activations": ["ACTIVATIONS", "Activation", "build_activation"],
        "attention.attention": ["attend", "masked_softmax"],
        "attention.attention_scores": [
            "SCORES",
            "AdditiveScore",
            "BilinearScore",
            "CosineScore",
            "DotScore",
            "ScaledDotScore",
            "Score",
        ],
        "attention.bigbird_attention": ["BigBirdAttention", "BigBirdBlocks", "bigbird_attention"],
        "attention.cross_attention": ["CrossAttention"],
        "attention.decoder_block": ["DecoderBlock"],
        "attention.feedforward": ["FeedForward", "GatedFeedForward"],
        "attention.gaussian_window": ["gaussian_window"],
        "attention.hierarchical_attention": ["HierarchicalAttention", "hierarchical_attention"],
        "attention.hopfield": ["Hopfield", "hopfield_energy", "hopfield_retrieval"],
        "attention.kernels": ["KERNELS", "Kernel", "kernel_pooling"],
        "attention.key_value_cache": ["KeyValueCache"],
        "attention.linear_attention": ["LinearAttention", "linear_attention", "linear_step"],
        "attention.masks": ["causal_mask", "length_mask"],
        "attention.multihead_attention": ["MultiHeadAttention"],
        "attention.position_encoding": [
            "LearnedPositions",
            "Rotary",
            "SinusoidalPositions",
            "sinusoidal_encoding",
        ],
        "attention.relative_positions": ["AlibiBias", "RelativePositionBias", "alibi_bias"],
        "attention.streaming_attention": ["streaming_attention"],
        "attention.transformer_block": ["TransformerBlock"],
        "attention.window_attention": ["WindowAttention", "window_attention"],
        "convolution.centre_surround": ["centre_surround"],
        "convolution.convolution": ["convolve", "correlate"],
        "convolution.convolution_matrix": ["convolution_matrix", "correlation_matrix"],
        "convolution.locally_connected": ["LocallyConnected2d"],
        "convolution.pooling": ["GaussianPool2d"],
        "convolution.receptive_field": ["ReceptiveField", "receptive_fields"],
        "convolution.residual_block": ["BasicBlock", "Bottleneck"],
        "initializer": ["Initializer"],
        "initializers": ["INITIALIZERS", "initialize"],
        "norms": ["NORMS"],
        "patches": ["PatchEmbedding", "patchify", "unpatchify"],
        "recurrence.jordan": ["JordanLayer"],
        "recurrence.linear_recurrence": ["LinearRecurrence"],
        "recurrence.linear_recurrent_unit": ["LinearRecurrentUnit"],
        "recurrence.minimal_recurrence": ["MinimalGRU", "MinimalLSTM"],
        "recurrence.recurrence": ["Recurrence"],
        "recurrence.recurrent": ["RecurrentStack"],
        "recurrence.recurrent_cells": ["elman_step", "gru_step", "jordan_step", "lstm_step"],
        "recurrence.scan": ["parallel_scan", "scan"],
        "residual": ["Residual"],
        "softmax": ["log_sum_exp", "softmax_jacobian"],
        "threshold": ["heaviside", "sign"],
    },
)
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, loaded=["softmax"])
