"""BERT: torch's layers with the same weights, both ways, padding not read, and what it learns.

`bert_tiny.safetensors` was written by benchmarks/bert_parity.py: a BertForPreTraining of
`transformers`, two texts, and the logits of both heads.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.outputs import NEVER
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.data.text.pretraining.framing import frame_texts, segments_of
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.models.exchange.bert_weights import from_bert
from netwright.models.model import check_fits
from netwright.models.transformers.bert import BERT, BERTConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from netwright.testing.sequence_contract import SEQUENCE_CHECKS
from tests.models.sequence.specs import train
from tests.repetition import for_each, slow_but

SMALL: dict[str, Any] = {"layers": 2, "heads": 2, "width": 8, "context": 12}
CLASSES = DataSpec(
    inputs="tokens", input_shape=(6,), target="class", num_outputs=3, vocab_size=9, padding=PAD
)
TAGS = replace(CLASSES, target="tags")
MASKED = DataSpec(
    inputs="masked",
    input_shape=(8,),
    target="tokens",
    num_outputs=9,
    vocab_size=10,
    padding=PAD,
)
SPECS = {"class": CLASSES, "tags": TAGS, "masked": MASKED}
OPTIONS: dict[str, dict[str, Any]] = {
    "sinusoidal": {"positions": "sinusoidal"},
    "rotary": {"positions": "rotary"},
    "alibi": {"positions": "alibi"},
    "t5": {"positions": "t5"},
    "window": {"attention": "window", "attention_window": 1},
    "window-global": {"attention": "window", "attention_window": 1, "global_tokens": 1},
    "window-t5": {
        "attention": "window",
        "attention_window": 2,
        "positions": "t5",
        "global_tokens": 1,
    },
    "bigbird": {"attention": "bigbird", "attention_block": 1},
    "bigbird-rotary": {
        "attention": "bigbird",
        "attention_block": 2,
        "random_blocks": 0,
        "positions": "rotary",
    },
    "hierarchical": {"attention": "hierarchical", "attention_block": 3},
    "hierarchical-rotary": {
        "attention": "hierarchical",
        "attention_block": 2,
        "positions": "rotary",
    },
    "linear": {"attention": "linear"},
}
TEXTS = torch.tensor([[4, 5, 6, 7, 8, 4], [5, 4, PAD, PAD, PAD, PAD], [PAD] * 6])
PAIRS = torch.tensor([[BOS, 4, 9, 6, EOS, 7, 8, EOS], [BOS, 5, EOS, 6, EOS, PAD, PAD, PAD]])


def build(name: str = "class", seed: int = 0, **settings: Any) -> BERT:
    with seeded(seed):
        model = BERT.build(BERTConfig(**SMALL, **settings), SPECS[name])
        for weight in model.parameters():
            nn.init.normal_(weight, std=0.4)
    return model.double().eval()


@for_each("name", SPECS)
@for_each("check", [*MODEL_CHECKS, *SEQUENCE_CHECKS], ids=lambda check: check.__name__)
def test_keeps_the_contracts(check: Callable[[Build], None], name: str) -> None:
    check(lambda: BERT.build(BERTConfig(**SMALL), SPECS[name]))


@pytest.mark.parametrize("name", slow_but([next(iter(SPECS))], SPECS))
@for_each("option", OPTIONS)
def test_every_option_keeps_the_contracts(name: str, option: str) -> None:
    for check in (*MODEL_CHECKS, *SEQUENCE_CHECKS):
        check(lambda: BERT.build(BERTConfig(**SMALL, **OPTIONS[option]), SPECS[name]))


@for_each("option", OPTIONS)
def test_every_option_shows_its_weights_and_knows_the_order(option: str) -> None:
    model = build(**OPTIONS[option])
    for weights in model.attention_weights(TEXTS[:2]):
        assert bool((weights[1, :, :4, 4:] == 0).all())  # padding, but for what reads itself there
        torch.testing.assert_close(weights[0].sum(dim=-1), torch.ones(2, 8).double())
        is_near = option.startswith(("window", "bigbird"))
        assert bool((weights[0, :, 2, 6] == 0).all()) == is_near
    assert not torch.allclose(model(TEXTS[:1]), model(TEXTS[:1].flip(1)))


def test_a_window_of_one_with_a_global_cls_reads_all_in_two_blocks() -> None:
    def reach(**settings: Any) -> bool:
        """Whether what is said at [CLS] changes with the last word."""
        model, other = build(attention="window", attention_window=1, **settings), TEXTS[:1].clone()
        other[0, -1] = 7
        return not torch.equal(model(TEXTS[:1]), model(other))

    assert reach(global_tokens=1)
    assert not reach()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"attention": "linear", "positions": "alibi"}, "must be learned or sinusoidal, got alibi"),
        (
            {"attention": "bigbird", "positions": "t5"},
            "positions must be learned, sinusoidal or rotary, got t5",
        ),
        (
            {"attention": "hierarchical", "positions": "alibi"},
            "positions must be learned, sinusoidal or rotary, got alibi",
        ),
        ({"global_tokens": 2}, "global_tokens are for attention=window, got 2 with attention=full"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"{sentence}$"):
        BERTConfig(**settings)


def by_torch(model: BERT, framed: Tensor) -> Tensor:
    """What the last block gives, by torch's encoder layers (B, F, D)."""
    names = {
        "self_attn.in_proj_": "attn.c_attn.",
        "self_attn.out_proj.": "attn.c_proj.",
        "linear1.": "mlp.c_fc.",
        "linear2.": "mlp.c_proj.",
        "norm1.": "ln_1.",
        "norm2.": "ln_2.",
    }
    assert model.wpe is not None
    summed = model.wte.weight[framed] + model.wpe(0, framed.shape[1])
    x: Tensor = model.ln_e(summed + model.wse.weight[segments_of(framed)])
    for block in model.blocks:
        own = block.state_dict()
        layer = nn.TransformerEncoderLayer(
            8, 2, 32, dropout=0.0, activation="gelu", layer_norm_eps=1e-12, batch_first=True
        ).double()
        layer.load_state_dict(
            {t + kind: own[o + kind] for t, o in names.items() for kind in ("weight", "bias")}
        )
        x = layer(x, src_key_padding_mask=framed == PAD)
    return x


def test_a_text_is_read_as_by_torchs_layers_from_cls_or_at_each_token() -> None:
    framed = frame_texts(TEXTS)
    one, each = build("class"), build("tags")
    assert one.pooler is not None
    assert one.head is not None
    assert each.head is not None
    pooled = one.pooler(by_torch(one, framed)[:, 0]).tanh()
    torch.testing.assert_close(one(TEXTS), one.head(pooled), rtol=1e-10, atol=1e-10)
    wanted = each.head(by_torch(each, framed)[:, 1:-1])
    for row, length in enumerate((6, 2)):
        torch.testing.assert_close(
            each(TEXTS)[row, :length], wanted[row, :length], rtol=1e-10, atol=1e-10
        )


def test_masked_tokens_are_read_by_the_embedding_and_cls_says_next_or_not() -> None:
    model = build("masked")
    head, x = model.pretraining, by_torch(model, PAIRS)
    assert head is not None
    assert model.pooler is not None
    logits = model(PAIRS)
    vectors = head.norm(gelu(head.transform(x)))
    wanted = vectors @ model.wte.weight[:9].T + head.bias
    counted = PAIRS != PAD
    counted[:, 0] = False
    torch.testing.assert_close(logits[counted], wanted[counted], rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(logits[:, 0, :2], head.next_text(model.pooler(x[:, 0]).tanh()))
    assert bool((logits[:, 0, 2:] == NEVER).all())


def test_with_the_weights_of_transformers_both_heads_give_their_logits() -> None:
    stored = load_file(Path(__file__).parent / "bert_tiny.safetensors")
    theirs, tokens = {name: stored[name] for name in stored if "." in name}, stored["tokens"]
    spec = replace(MASKED, num_outputs=11, vocab_size=11)
    model = BERT.build(BERTConfig(layers=2, heads=2, width=8, context=8), spec).eval()
    model.load_state_dict(from_bert(theirs))
    found, counted = model(tokens), tokens != PAD
    assert float(stored["masked"].std()) > 0.1  # weights that do something
    assert not bool(counted.all())
    torch.testing.assert_close(found[:, 0, :2], stored["next"], rtol=1e-4, atol=1e-5)
    counted[:, 0] = False
    torch.testing.assert_close(found[counted], stored["masked"][counted], rtol=1e-4, atol=1e-5)


def test_without_padding_nothing_is_masked_and_the_outputs_are_the_same() -> None:
    masked, plain = build("masked"), BERT.build(BERTConfig(**SMALL), replace(MASKED, padding=None))
    plain.double().eval().load_state_dict(masked.state_dict())
    given: list[Any] = []
    for block in plain.blocks:
        block.register_forward_pre_hook(lambda _, args: given.append(args[1]))
    whole = PAIRS[:1]
    torch.testing.assert_close(plain(whole), masked(whole), rtol=1e-12, atol=1e-12)
    assert given == [None] * len(given) and given


def test_every_place_sees_both_sides() -> None:
    model = build("masked")
    with torch.no_grad():
        before = model(PAIRS[:1])
        for place in (1, 6):
            changed = PAIRS[:1].clone()
            changed[0, place] = 5
            moved = (model(changed) - before).abs().amax(dim=2)[0]
            assert bool((moved[1:] > 1e-6).all()), place


def test_attention_is_a_distribution_over_the_framed_text_and_its_places_have_names() -> None:
    model = build()
    maps = model.attention_weights(TEXTS[:2])
    assert [tuple(weights.shape) for weights in maps] == [(2, 2, 8, 8)] * 2
    assert bool((maps[0][1, :, :, 4:] == 0).all())
    torch.testing.assert_close(maps[0][0].sum(dim=-1), torch.ones(2, 8).double())
    assert model.framed_names(["a", "b"]) == ["[CLS]", "a", "b", "[SEP]"]
    asked = ["[CLS]", "why", "[SEP]", "so", "[SEP]"]  # a question and its context
    assert model.framed_names(["why", "<eos>", "so"]) == asked
    assert build("masked").framed_names(["<bos>", "why", "<eos>", "so", "<eos>"]) == asked


def test_what_it_cannot_do_is_refused() -> None:
    corpus = replace(CLASSES, target="tokens", num_outputs=9)
    with pytest.raises(ConfigError, match=r"^bert reads a text both ways and would see the next"):
        check_fits(BERT, "bert", corpus)
    small = BERTConfig(**{**SMALL, "context": 7})
    with pytest.raises(ConfigError, match=r"^context must be at least 8, .*max_length\), got 7$"):
        BERT.build(small, CLASSES)
    with pytest.raises(ConfigError, match=r"^context must be at least 8, .*window\), got 7$"):
        BERT.build(small, MASKED)
    with pytest.raises(ShapeError, match=r"^a context of 12 tokens has no room for 13$"):
        build()(torch.full((1, 11), 4))


@pytest.mark.slow
@pytest.mark.covers("bert-finetune-sentiment")
def test_of_a_text_with_negations_it_learns_the_polarity() -> None:
    good, bad, no, rest = 4, 5, 6, 7

    def batch(numbers: torch.Generator) -> tuple[Tensor, Tensor]:
        """Six words: one is good or bad, the word before it may turn it."""
        words = torch.full((64, 6), rest)
        place = torch.randint(1, 6, (64,), generator=numbers)
        kinds, turned = torch.randint(2, (2, 64), generator=numbers)
        rows = torch.arange(64)
        words[rows, place] = torch.where(kinds == 1, good, bad)
        words[rows, place - 1] = torch.where(turned == 1, no, rest)
        return words, kinds ^ turned

    with seeded(0):
        model = BERT.build(
            BERTConfig(layers=2, heads=2, width=32, dropout=0.0, context=8),
            replace(CLASSES, num_outputs=2),
        )
    train(model, batch, cross_entropy, steps=1000, lr=0.002)
    words, wanted = batch(torch.Generator().manual_seed(9))
    assert float((model(words).argmax(dim=1) == wanted).double().mean()) >= 0.95


@pytest.mark.slow
@pytest.mark.covers("bert-finetune-pos")
def test_a_tag_that_depends_on_the_neighbour_needs_context() -> None:
    def batch(numbers: torch.Generator) -> tuple[Tensor, Tensor]:
        """The tag of a word is whether its right neighbour is an even word."""
        words = torch.randint(4, 9, (64, 6), generator=numbers)
        return words, (words.roll(-1, dims=1) % 2 == 0).long()

    with seeded(0):
        model = BERT.build(
            BERTConfig(layers=1, heads=2, width=32, dropout=0.0, context=8),
            replace(TAGS, num_outputs=2),
        )

    def loss(logits: Tensor, tags: Tensor) -> Tensor:
        return cross_entropy(logits[:, :-1].flatten(0, 1), tags[:, :-1].flatten())

    train(model, batch, loss, steps=300, lr=0.003)
    words, tags = batch(torch.Generator().manual_seed(9))
    words, tags = words[:, :-1], tags[:, :-1]
    with torch.no_grad():
        said = model(torch.cat((words, words[:, :1]), dim=1)).argmax(dim=2)[:, :-2]
    assert bool((said == tags[:, :-1]).all())
    lookup = torch.stack([tags[words == word].double().mean() for word in range(4, 9)])
    assert float(lookup.maximum(1 - lookup).mean()) < 0.75
