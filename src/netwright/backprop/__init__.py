"""Derivatives worked by hand: forward and backward of each layer as pure functions, no autograd."""

from typing import TYPE_CHECKING

from netwright.core.lazy_names import homes_in, lazy_names

if TYPE_CHECKING:
    from netwright.backprop.activation_slopes import activation_backward as activation_backward
    from netwright.backprop.activation_slopes import activation_forward as activation_forward
    from netwright.backprop.attention import attention_backward as attention_backward
    from netwright.backprop.attention import attention_forward as attention_forward
    from netwright.backprop.attention import softmax_backward as softmax_backward
    from netwright.backprop.batch_norm import batch_norm_backward as batch_norm_backward
    from netwright.backprop.batch_norm import batch_norm_forward as batch_norm_forward
    from netwright.backprop.computation_graph import Node as Node
    from netwright.backprop.computation_graph import forward_order as forward_order
    from netwright.backprop.computation_graph import gradients_of as gradients_of
    from netwright.backprop.convolution import conv_backward as conv_backward
    from netwright.backprop.convolution import conv_forward as conv_forward
    from netwright.backprop.dense import dense_backward as dense_backward
    from netwright.backprop.dense import dense_forward as dense_forward
    from netwright.backprop.dual_numbers import Dual as Dual
    from netwright.backprop.dual_numbers import forward_derivative as forward_derivative
    from netwright.backprop.embedding import embedding_backward as embedding_backward
    from netwright.backprop.embedding import embedding_forward as embedding_forward
    from netwright.backprop.lstm import lstm_backward as lstm_backward
    from netwright.backprop.lstm import lstm_forward as lstm_forward
    from netwright.backprop.mode_costs import count_mode_costs as count_mode_costs
    from netwright.backprop.mode_costs import forward_jacobian as forward_jacobian
    from netwright.backprop.mode_costs import reverse_jacobian as reverse_jacobian
    from netwright.backprop.network import Layer as Layer
    from netwright.backprop.network import network_backward as network_backward
    from netwright.backprop.network import network_forward as network_forward
    from netwright.backprop.output_deltas import IDENTITY_SQUARED_ERROR as IDENTITY_SQUARED_ERROR
    from netwright.backprop.output_deltas import SIGMOID_CROSS_ENTROPY as SIGMOID_CROSS_ENTROPY
    from netwright.backprop.output_deltas import SIGMOID_SQUARED_ERROR as SIGMOID_SQUARED_ERROR
    from netwright.backprop.output_deltas import SOFTMAX_CROSS_ENTROPY as SOFTMAX_CROSS_ENTROPY
    from netwright.backprop.output_deltas import OutputUnit as OutputUnit
    from netwright.backprop.pooling import average_pool_forward as average_pool_forward
    from netwright.backprop.pooling import max_pool_forward as max_pool_forward
    from netwright.backprop.pooling import pool_backward as pool_backward
    from netwright.backprop.recurrent import RecurrentWeights as RecurrentWeights
    from netwright.backprop.recurrent import recurrent_backward as recurrent_backward
    from netwright.backprop.recurrent import recurrent_forward as recurrent_forward
    from netwright.backprop.second_order import critical_point as critical_point
    from netwright.backprop.second_order import hessian as hessian
    from netwright.backprop.second_order import hessian_product as hessian_product
    from netwright.backprop.second_order import jacobian as jacobian
    from netwright.backprop.skip_gram import SkipGramGradient as SkipGramGradient
    from netwright.backprop.skip_gram import context_chances as context_chances
    from netwright.backprop.skip_gram import skip_gram_gradient as skip_gram_gradient
    from netwright.backprop.skip_gram import skip_gram_step as skip_gram_step
    from netwright.backprop.two_layer import TwoLayer as TwoLayer
    from netwright.backprop.two_layer import two_layer_backward as two_layer_backward
    from netwright.backprop.two_layer import two_layer_forward as two_layer_forward

_HOMES = homes_in(
    __name__,
    {
        "activation_slopes": ["activation_forward", "activation_backward"],
        "attention": ["attention_forward", "attention_backward", "softmax_backward"],
        "batch_norm": ["batch_norm_forward", "batch_norm_backward"],
        "computation_graph": ["Node", "forward_order", "gradients_of"],
        "convolution": ["conv_forward", "conv_backward"],
        "dense": ["dense_forward", "dense_backward"],
        "dual_numbers": ["Dual", "forward_derivative"],
        "embedding": ["embedding_forward", "embedding_backward"],
        "lstm": ["lstm_forward", "lstm_backward"],
        "mode_costs": ["count_mode_costs", "forward_jacobian", "reverse_jacobian"],
        "network": ["Layer", "network_forward", "network_backward"],
        "output_deltas": [
            "IDENTITY_SQUARED_ERROR",
            "SIGMOID_CROSS_ENTROPY",
            "SIGMOID_SQUARED_ERROR",
            "SOFTMAX_CROSS_ENTROPY",
            "OutputUnit",
        ],
        "pooling": ["average_pool_forward", "max_pool_forward", "pool_backward"],
        "recurrent": ["RecurrentWeights", "recurrent_forward", "recurrent_backward"],
        "second_order": ["critical_point", "hessian", "hessian_product", "jacobian"],
        "skip_gram": [
            "SkipGramGradient",
            "context_chances",
            "skip_gram_gradient",
            "skip_gram_step",
        ],
        "two_layer": ["TwoLayer", "two_layer_forward", "two_layer_backward"],
    },
)
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
