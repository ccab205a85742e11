"""How fast an encoder-decoder and BERT are trained, beside torch.nn.Transformer and `transformers`.

    encoder-decoder  the transformer of 2017, base: 6 + 6 blocks of 512 features, 128 pairs of
                     64 + 64 words of Multi30k, norms before their parts. The yardstick is
                     torch.nn.Transformer with the same embedding, compiled
    bert             BERT-base with both heads of pre-training on 128 texts of 127 words of
                     WikiText-2. The yardstick is BertForPreTraining of `transformers` with SDPA;
                     it is compiled, too

`netwright` is `fit` as it is, in memory, compiled and not: progress, history, the share of right
tokens, the doctor, the guard against numbers that are not finite; BERT's masks are drawn anew in
each batch, which theirs are not. The others are trained by a loop: bfloat16 by autocast, fused
AdamW, gradients cut at length 1, a loss read every 10 updates; their batches are on the device.

All read the same batches in the same order. In each round all take a turn, in an order drawn anew;
every turn is printed as soon as it is over. The clock runs over wall seconds and waits for the
device at both ends. What is compiled is compiled before, in a turn of a few updates.

    ratio = median over rounds of (seconds of the yardstick / seconds of the contestant)

The gate: all begin with the same weights, by which the loss of held-out texts is the same to 0.01,
and after a turn, in which each drops others, to 0.1.

`--small` is a try of a few seconds on a CPU. BERT wants `transformers`.
"""

import argparse
import copy
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from contest import unseen
from environment import enter_bench_environment
from gpt2_training import Record, Turn, matmul_rate, take_turn
from reporting import Row, add_json_option, quartiles, show, spread
from torch import Tensor, nn

from netwright.core.seeding import generator
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split
from netwright.data.spec import IGNORED, DataSpec
from netwright.data.text.multi30k import Multi30kConfig, load_parts
from netwright.data.text.pretraining.framing import segments_of
from netwright.data.text.pretraining.masking import mask_tokens
from netwright.data.text.pretraining.sentence_pairs import pair_sentences
from netwright.data.text.published import ARTICLES, read_published
from netwright.data.text.tokenizer import BOS, EOS, PAD, SPECIALS
from netwright.layers.attention.position_encoding import SinusoidalPositions
from netwright.models.exchange.bert_weights import to_bert
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.gradient_fit import gradient_fit
from netwright.recipes.fitting.prepared import RunContext

LR, DECAY, LONGEST = 1e-4, 0.01, 1.0
DROPOUT = 0.1
TRIED = 4  # updates before the first round
BEFORE, AFTER = 0.01, 0.1  # how far the losses of the gate may be apart
Weights = Mapping[str, Tensor]
JOINED = 4  # captions of Multi30k make a source, and a target
COLUMNS = {
    "by": ("name", ""),
    "ms a step": ("ms", ".2f"),
    "ratio": ("ratio", ".3f"),
    "quartiles": ("spread", ""),
    "GiB": ("gib", ".1f"),
    "s before": ("first_s", ".1f"),
    "loss after": ("loss", ".4f"),
    "remarks": ("remarks", ""),
}


@dataclass(frozen=True, kw_only=True)
class Size:
    """Of a network, and of its batches."""

    layers: int
    heads: int
    width: int
    length: int  # of a source and of a target; of BERT's texts
    batch: int
    vocabulary: int  # words, and the special tokens


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What all learn.

    Args:
        title: what it is.
        model: ours, by name.
        size: of network and batches.
        spec: of the data.
        train: what a turn reads.
        held: what the gate reads.
        peer: builds the yardstick of our weights, (inputs, targets) -> loss.
        yardstick: its name.
        is_compiled: the yardstick itself; otherwise there is a contestant that is.
    """

    title: str
    model: str
    size: Size
    spec: DataSpec
    train: Split
    held: Split
    peer: Callable[[Size, Weights], nn.Module]
    yardstick: str
    is_compiled: bool

    @property
    def device(self) -> torch.device:
        return self.train.targets.device


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--contests", default="encoder-decoder,bert", help="those, with commas")
    options.add_argument("--only", help="contestants beside the yardstick: a,b")
    options.add_argument("--rounds", type=int, default=3, help="rounds (3)")
    options.add_argument("--steps", type=int, default=50, help="updates a turn (50)")
    options.add_argument("--small", action="store_true", help="small networks on the CPU")
    add_json_option(options)
    return options


def numbered(texts: Iterable[Sequence[str]], size: int) -> list[list[int]]:
    """Words by how often they occur, behind the special tokens; the rarest share a number."""
    texts = list(texts)
    common = Counter(word for text in texts for word in text).most_common(size - len(SPECIALS) - 1)
    numbers = {word: rank for rank, (word, _) in enumerate(common, start=len(SPECIALS))}
    return [[numbers.get(word, size - 1) for word in text] for text in texts]


def padded(texts: Sequence[Sequence[int]], length: int, fill: int) -> Tensor:
    return torch.tensor([[*text[:length], *[fill] * (length - len(text))] for text in texts])


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


def pretraining(size: Size, steps: int, device: str) -> Contest:
    """Pairs of segments with masked words."""
    words = read_published("wikitext-2", ARTICLES["train"]).split()
    mask = size.vocabulary - 1
    tokens = numbered([words], mask)
    drawing = generator(0, "texts")
    pairs = pair_sentences(tokens, (size.length - 3) // 2, drawing)
    begin, end = (torch.full((len(pairs.labels), 1), token) for token in (BOS, EOS))
    rows = torch.cat((begin, pairs.first, end, pairs.second, end), dim=1)
    inputs, targets = mask_tokens(rows, mask, drawing)
    targets[:, 0] = pairs.labels
    train, held = parted(Split(inputs=inputs.to(device), targets=targets.to(device)), size, steps)
    return Contest(
        title="bert",
        model="bert",
        size=size,
        spec=DataSpec(
            inputs="masked",
            input_shape=(rows.shape[1],),
            target="tokens",
            num_outputs=size.vocabulary,
            vocab_size=size.vocabulary,
        ),
        train=train,
        held=held,
        peer=transformers_bert,
        yardstick="transformers",
        is_compiled=False,
    )


CONTESTS = {"encoder-decoder": translation, "bert": pretraining}
SIZES = {
    "encoder-decoder": Size(layers=6, heads=8, width=512, length=64, batch=128, vocabulary=32_000),
    "bert": Size(layers=12, heads=12, width=768, length=127, batch=128, vocabulary=30_522),
}
SMALL = Size(layers=2, heads=2, width=32, length=31, batch=8, vocabulary=5_000)


def parted(whole: Split, size: Size, steps: int) -> tuple[Split, Split]:
    """As many rows as make so many updates, read several times where there are few; a batch."""
    device = whole.targets.device
    held, rest = torch.arange(len(whole), device=device).split(
        [size.batch, len(whole) - size.batch]
    )
    again = torch.arange(steps * size.batch, device=device) % len(rest)
    return whole.take(rest[again]), whole.take(held)


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


def transformers_bert(size: Size, first: Weights) -> nn.Module:
    """With our weights by its names."""
    from transformers import BertConfig, BertForPreTraining

    config = BertConfig(
        vocab_size=size.vocabulary,
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=4 * size.width,
        attn_implementation="sdpa",
    )
    network = BertForPreTraining(config)
    network.load_state_dict(to_bert(first))
    return TransformersBert(network)


class TransformersBert(nn.Module):
    """BertForPreTraining, given what ours is given."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        labels = torch.cat((torch.full_like(targets[:, :1], IGNORED), targets[:, 1:]), dim=1)
        return self.network(
            input_ids=inputs,
            token_type_ids=segments_of(inputs),
            labels=labels,
            next_sentence_label=targets[:, 0],
        ).loss


def by_hand(contest: Contest, first: Weights, *, compiles: bool) -> Turn:
    """The peer, trained by a loop."""
    device, train_split = contest.device, contest.train
    network = contest.peer(contest.size, first).to(device)
    start = copy.deepcopy(network.state_dict())
    run = torch.compile(network) if compiles else network
    order = torch.randperm(len(train_split), generator=generator(0, "order", 0)).to(device)

    def train(steps: int | None) -> float:
        network.load_state_dict(start)
        network.train()
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=LR, weight_decay=DECAY, fused=device.type == "cuda"
        )
        for number, rows in enumerate(order.split(contest.size.batch)[:steps]):
            with half(device):
                loss = run(train_split.inputs[rows], train_split.targets[rows])
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), LONGEST)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            if number % 10 == 0:
                loss.item()
        return 0.0

    return Turn(train, network, network)


def netwright(contest: Contest, first: Weights, *, compiles: bool) -> Turn:
    """What `fit` does between loading the data and measuring the result, kept in memory."""
    size, spec = contest.size, contest.spec
    encoder = ArrayEncoder(
        input_shape=spec.input_shape, target="class", num_outputs=spec.num_outputs
    )
    prepared = prepare(
        contest.model,
        Data(name=contest.title, spec=spec, train=contest.train, preprocessor=encoder),
        layers=size.layers,
        heads=size.heads,
        width=size.width,
        dropout=DROPOUT,
        epochs=1,
        batch_size=size.batch,
        optimizer="adamw",
        kernel="fused" if contest.device.type == "cuda" else "foreach",
        lr=LR,
        weight_decay=DECAY,
        clip_norm=LONGEST,
        precision="bf16-mixed" if contest.device.type == "cuda" else "fp32",
        compile=compiles,
        by_length=False,
        device=contest.device.type,
    )
    network = prepared.model
    start = copy.deepcopy(dict(first) or network.state_dict())

    def train(steps: int | None) -> float:
        network.load_state_dict(start)
        limited = replace(prepared.recipe.train, max_steps=steps)
        recipe = replace(prepared.recipe, train=limited)
        return gradient_fit(replace(prepared, recipe=recipe), RunContext()).compile_seconds

    def loss(inputs: Tensor, targets: Tensor) -> Tensor:
        parts = zip((network(inputs),), (targets,), strict=True)
        if spec.inputs == "masked":  # what is said at [CLS] has a mean of its own
            cuts = (slice(1, None), slice(0, 1))
            parts = ((logits[:, cut], wanted[:, cut]) for logits, wanted in parts for cut in cuts)
        means = [F.cross_entropy(z.flatten(0, 1).float(), y.flatten()) for z, y in parts]
        return torch.stack(means).sum()

    return Turn(train, network, loss)


def half(device: torch.device) -> Any:
    """In bfloat16; on a CPU, where this is only tried out, as it is."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def contestants(contest: Contest, options: argparse.Namespace) -> dict[str, Callable[..., Turn]]:
    """Ours first: theirs take our weights."""
    may_compile, yardstick = not options.small, contest.yardstick
    found = {
        "netwright": partial(netwright, compiles=False),
        "netwright-compiled": partial(netwright, compiles=may_compile),
        yardstick: partial(by_hand, compiles=may_compile and contest.is_compiled),
    }
    if not contest.is_compiled:
        found[f"{yardstick}-compiled"] = partial(by_hand, compiles=may_compile)
    only = {yardstick, *options.only.split(",")} if options.only else set(found)
    return {name: ready for name, ready in found.items() if name in only}


def run_contest(contest: Contest, options: argparse.Namespace) -> dict[str, Record]:
    """All are tried, then take a turn in each round; each turn is told."""
    order, records, starts = random.Random(0), {}, {}
    first: Weights = {}
    for name, get_ready in contestants(contest, options).items():
        records[name] = record = Record()
        with unseen():
            record.turn = turn = get_ready(contest, first)
            first = first or copy.deepcopy(turn.network.state_dict())
            before = held_loss(contest, turn)
            record.first_s = sum(take_turn(record, turn, contest.device, TRIED))
        weights = sum(part.numel() for part in turn.network.parameters())
        told = f"{weights:,} weights, loss {before:.4f}, ready after {record.first_s:.1f} s"
        print(f"{name}: {told}", flush=True)
        starts[name] = before
    if max(starts.values()) - min(starts.values()) > BEFORE:
        raise SystemExit(f"the same weights must have the same loss, got {starts}")
    for number in range(options.rounds):
        for name in order.sample(list(records), len(records)):
            with unseen():
                seconds, _ = take_turn(records[name], records[name].turn, contest.device)
            records[name].seconds.append(seconds)
            ms = 1e3 * seconds / options.steps
            print(f"round {number + 1}, {name}: {ms:.2f} ms a step", flush=True)
    return records


@torch.no_grad()
def held_loss(contest: Contest, turn: Turn) -> float:
    """Of texts that are not learned from, nothing dropped."""
    turn.network.eval()
    with half(contest.device):
        return turn.loss(contest.held.inputs, contest.held.targets).item()


def summaries(contest: Contest, records: Mapping[str, Record], steps: int) -> list[Row]:
    losses = {name: held_loss(contest, record.turn) for name, record in records.items()}
    yardstick, rows = contest.yardstick, []
    for name, record in records.items():
        pairs = zip(records[yardstick].seconds, record.seconds, strict=True)
        low, ratio, high = quartiles([theirs / own for theirs, own in pairs])
        is_near = abs(losses[name] - losses[yardstick]) <= AFTER
        rows.append(
            {
                "name": name,
                "contest": contest.title,
                "ms": 1e3 * quartiles(record.seconds)[1] / steps,
                "ratio": ratio,
                "spread": spread(low, high),
                "gib": record.bytes / 2**30,
                "first_s": record.first_s,
                "loss": losses[name],
                "remarks": "" if is_near else f"ANOTHER LOSS than {yardstick}",
                "seconds": record.seconds,
            }
        )
    return rows


def main() -> None:
    options = parser().parse_args()
    enter_bench_environment()
    if not options.small and not torch.cuda.is_available():
        raise SystemExit("networks of this size take a graphics card; --small is for a CPU")
    device, place = "cpu", "CPU"
    if not options.small:
        device = "cuda"
        place = f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
        place += f"matmul {matmul_rate():.0f} TFLOP/s"
    for name in options.contests.split(","):
        size = SMALL if options.small else SIZES[name]
        contest = CONTESTS[name](size, options.steps, device)
        rows = summaries(contest, run_contest(contest, options), options.steps)
        title = f"{name}, {size}, {options.steps} steps a turn, {place}"
        show(rows, COLUMNS, title=title, as_json=options.json)


if __name__ == "__main__":
    main()
