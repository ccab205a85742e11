"""The encoder-decoder of `transformer_training.py`: captions of Multi30k, torch.nn.Transformer."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformer_contest import DROPOUT, Contest, Size, Weights, numbered, padded, parted

from netwright.data.dataset import Split
from netwright.data.spec import IGNORED, DataSpec
from netwright.data.text.multi30k import Multi30kConfig, load_parts
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.layers.attention.position_encoding import SinusoidalPositions

JOINED = 4  # captions of Multi30k make a source, and a target
COMMON = {
    "self_attn.in_proj_": ("attn.c_attn",),
    "self_attn.out_proj.": ("attn.c_proj",),
    "linear1.": ("mlp.c_fc",),
    "linear2.": ("mlp.c_proj",),
    "norm1.": ("ln_1",),
}
TORCH_PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "encoder": {**COMMON, "norm2.": ("ln_2",)},
    "decoder": {
        **COMMON,
        "multihead_attn.in_proj_": ("cross.q_attn", "cross.c_attn"),
        "multihead_attn.out_proj.": ("cross.c_proj",),
        "norm2.": ("ln_cross",),
        "norm3.": ("ln_2",),
    },
}


def translation(size: Size, steps: int, device: str) -> Contest:
    """Captions, a few joined, into as many."""
    columns = load_parts(Multi30kConfig())["train"].columns
    lines = [list(columns[language]) for language in ("en", "de")]
    count = len(lines[0]) // JOINED
    words = [
        " ".join(side[JOINED * i : JOINED * (i + 1)]).split()
        for side in lines
        for i in range(count)
    ]
    tokens = numbered(words, size.vocabulary)
    sources, said = tokens[:count], [[*text[: size.length - 1], EOS] for text in tokens[count:]]
    told = [[BOS, *text[:-1]] for text in said]
    inputs = torch.cat((padded(sources, size.length, PAD), padded(told, size.length, PAD)), dim=1)
    whole = Split(inputs=inputs.to(device), targets=padded(said, size.length, IGNORED).to(device))
    train, held = parted(whole, size, steps)
    return Contest(
        title="encoder-decoder",
        model="transformer",
        size=size,
        spec=DataSpec(
            inputs="pairs",
            input_shape=(2 * size.length,),
            target="tokens",
            num_outputs=size.vocabulary,
            vocab_size=size.vocabulary,
            padding=PAD,
            source_length=size.length,
            shared_vocabulary=True,
        ),
        train=train,
        held=held,
        peer=torch_translator,
        yardstick="torch.nn.Transformer",
        is_compiled=True,
    )


class TorchTranslator(nn.Module):
    """torch.nn.Transformer with one embedding, which also reads out, and sines."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.length = size.length
        self.embedding = nn.Embedding(size.vocabulary, size.width)
        self.positions = SinusoidalPositions(size.length, size.width)
        self.drop = nn.Dropout(DROPOUT)
        self.stacks = nn.Transformer(
            size.width,
            size.heads,
            size.layers,
            size.layers,
            4 * size.width,
            DROPOUT,
            batch_first=True,
            norm_first=True,
        )
        later = torch.ones(size.length, size.length, dtype=torch.bool).triu(1)
        self.register_buffer("later", later, persistent=False)

    def embed(self, tokens: Tensor) -> Tensor:
        x = math.sqrt(self.embedding.embedding_dim) * self.embedding(tokens)
        return self.drop(x + self.positions(0, tokens.shape[1]))

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        source, told = inputs.split(self.length, dim=1)
        is_padding = source == PAD
        x = self.stacks(
            self.embed(source),
            self.embed(told),
            tgt_mask=self.later,
            tgt_is_causal=True,
            src_key_padding_mask=is_padding,
            memory_key_padding_mask=is_padding,
        )
        logits = F.linear(x, self.embedding.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


def torch_translator(size: Size, first: Weights) -> nn.Module:
    """With our weights by torch's names."""
    named = {"embedding.weight": first["target_embedding.weight"]}
    for stack, parts in TORCH_PARTS.items():
        for kind in ("weight", "bias"):
            named[f"stacks.{stack}.norm.{kind}"] = first[f"{stack}_norm.{kind}"]
            for block in range(size.layers):
                for theirs, ours in parts.items():
                    maps = [first[f"{stack}.{block}.{own}.{kind}"] for own in ours]
                    named[f"stacks.{stack}.layers.{block}.{theirs}{kind}"] = torch.cat(maps)
    network = TorchTranslator(size)
    network.load_state_dict(named)
    return network
