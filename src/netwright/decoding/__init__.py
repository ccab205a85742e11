"""Tokens from logits: greedy, sampled and searched, from anything that gives the next logits."""

from netwright.decoding.beam_search import Beams, beam_search
from netwright.decoding.generate import generate, without_cache
from netwright.decoding.sampling import DecodingConfig, choose, top_k, top_p
from netwright.decoding.source_decoder import SourceDecoder

__all__ = [
    "Beams",
    "DecodingConfig",
    "SourceDecoder",
    "beam_search",
    "choose",
    "generate",
    "top_k",
    "top_p",
    "without_cache",
]
