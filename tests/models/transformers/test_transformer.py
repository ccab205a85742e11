"""The transformer of 2017: torch's with the same weights, cached as uncached, never ahead."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import seeded
from netwright.data.catalog import load
from netwright.data.spec import DataSpec
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.decoding.beam_search import beam_search
from netwright.decoding.source_decoder import say_greedily
from netwright.models.catalog import MODELS
from netwright.models.transformers.transformer import Transformer, TransformerConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from netwright.testing.sequence_contract import SEQUENCE_CHECKS
from netwright.train.evaluate import evaluate
from netwright.train.tasks.catalog import task_for
from tests.models.sequence.specs import train
from tests.repetition import for_each

SOURCE, TARGET, TOKENS = 5, 4, 9
SPEC = DataSpec(
    inputs="pairs",
    input_shape=(SOURCE + TARGET,),
    target="tokens",
    num_outputs=TOKENS,
    vocab_size=TOKENS,
    padding=PAD,
    source_length=SOURCE,
    shared_vocabulary=True,
)
OTHER = replace(SPEC, vocab_size=11, shared_vocabulary=False)
SMALL: dict[str, Any] = {"layers": 2, "heads": 2, "width": 8}
CASES: dict[str, tuple[dict[str, Any], DataSpec]] = {
    "pre-norm, one vocabulary": ({}, SPEC),
    "post-norm, two vocabularies": ({"norm": "post", "dropout": 0.0}, OTHER),
    "untied": ({"tied": False}, SPEC),
}


def build(name: str = "pre-norm, one vocabulary", seed: int = 0) -> Transformer:
    settings, spec = CASES[name]
    with seeded(seed):
        model = Transformer.build(TransformerConfig(**SMALL, **settings), spec)
        for weight in model.parameters():
            nn.init.normal_(weight, std=0.5)
    return model.double().eval()


def pairs() -> Tensor:
    """Sources of 5, 3 and 1 tokens and of none, and what the decoder is told."""
    return torch.tensor(
        [
            [4, 5, 6, 7, 8, BOS, 8, 7, 6],
            [4, 5, 6, PAD, PAD, BOS, 6, 5, 4],
            [8, PAD, PAD, PAD, PAD, BOS, 8, PAD, PAD],
            [PAD, PAD, PAD, PAD, PAD, BOS, 4, 4, PAD],
        ]
    )


@for_each("name", CASES)
@for_each("check", [*MODEL_CHECKS, *SEQUENCE_CHECKS], ids=lambda check: check.__name__)
def test_keeps_the_contracts(check: Callable[[Build], None], name: str) -> None:
    settings, spec = CASES[name]
    check(lambda: Transformer.build(TransformerConfig(**SMALL, **settings), spec))


def torchs(model: Transformer) -> nn.Transformer:
    """torch.nn.Transformer with the weights of the stacks."""
    config = model.config
    assert isinstance(config, TransformerConfig)
    theirs = nn.Transformer(
        config.width,
        config.heads,
        config.layers,
        config.layers,
        4 * config.width,
        dropout=0.0,
        batch_first=True,
        norm_first=config.norm == "pre",
    ).double()
    parts = {
        "self_attn.in_proj_": "attn.c_attn.",
        "self_attn.out_proj.": "attn.c_proj.",
        "multihead_attn.out_proj.": "cross.c_proj.",
        "linear1.": "mlp.c_fc.",
        "linear2.": "mlp.c_proj.",
        "norm1.": "ln_1.",
    }
    ends = {"encoder": {"norm2.": "ln_2."}, "decoder": {"norm2.": "ln_cross.", "norm3.": "ln_2."}}
    own, state = model.state_dict(), {}
    for stack, kind in product(ends, ("weight", "bias")):
        state[f"{stack}.norm.{kind}"] = own[f"{stack}_norm.{kind}"]
        for layer in range(config.layers):
            for their, our in {**parts, **ends[stack]}.items():
                if f"{stack}.{layer}.{our}{kind}" in own:
                    state[f"{stack}.layers.{layer}.{their}{kind}"] = own[
                        f"{stack}.{layer}.{our}{kind}"
                    ]
            if stack == "decoder":
                cross = f"decoder.{layer}.cross"
                state[f"decoder.layers.{layer}.multihead_attn.in_proj_{kind}"] = torch.cat(
                    (own[f"{cross}.q_attn.{kind}"], own[f"{cross}.c_attn.{kind}"])
                )
    theirs.load_state_dict(state)
    return theirs.eval()


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # of a path that is not taken
@for_each("name", CASES)
def test_it_is_torchs_own_with_the_same_weights(name: str) -> None:
    model = build(name)
    theirs = torchs(model)
    inputs = pairs()[:3]
    source, told = inputs[:, :SOURCE], inputs[:, SOURCE:]
    both = model.source_embedding or model.target_embedding
    read, said = (
        8**0.5 * embedding(tokens) + model.positions(0, tokens.shape[1])
        for embedding, tokens in ((both, source), (model.target_embedding, told))
    )
    padding = source == PAD
    features = theirs(
        read,
        said,
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(TARGET, dtype=torch.float64),
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    head = model.target_embedding if model.head is None else model.head
    torch.testing.assert_close(model(inputs), features @ head.weight.T, rtol=1e-10, atol=1e-10)


@for_each("name", CASES)
def test_step_by_step_with_a_cache_it_says_what_it_says_at_once(name: str) -> None:
    model, inputs = build(name), pairs()
    state, steps = model.read_source(inputs[:, :SOURCE]), []
    with torch.no_grad():
        for told in inputs[:, SOURCE:].unbind(1):
            logits, state = model.step(told, state)
            steps.append(logits)
    torch.testing.assert_close(torch.stack(steps, dim=1), model(inputs), rtol=1e-10, atol=1e-10)


def test_padding_of_a_source_is_not_read_wherever_it_is() -> None:
    model, inputs = build(), pairs()
    assert bool(model(inputs).isfinite().all())  # a source of padding alone, too
    shorter = Transformer.build(
        TransformerConfig(**SMALL), replace(SPEC, source_length=3, input_shape=(3 + TARGET,))
    ).double()
    shorter.load_state_dict(model.state_dict())
    torch.testing.assert_close(
        model(inputs[1:2]), shorter.eval()(inputs[1:2, [0, 1, 2, 5, 6, 7, 8]])
    )


def test_a_beam_as_wide_as_all_sequences_finds_the_likeliest() -> None:
    model, source, penalty = build(), pairs()[:1, :SOURCE], 0.6
    every = torch.cartesian_prod(*[torch.arange(TOKENS)] * 3)  # (729, 3)
    told = torch.cat((source.expand(729, -1), torch.full((729, 1), BOS), every), dim=1)
    with torch.no_grad():
        state = model.read_source(source)
        logits, state = model.step(torch.tensor([BOS]), state)
        found = beam_search(
            logits, state, model.step, width=81, max_tokens=3, stop=EOS, length_penalty=penalty
        )
        steps = model(told).log_softmax(dim=2)[:, :3].gather(2, every[:, :, None])[:, :, 0]
    ends = (every == EOS).int()
    counts = ends.cumsum(dim=1) - ends == 0  # up to the first end, itself included
    lengths = counts.sum(dim=1)
    scores = (steps * counts).sum(dim=1) / lengths**penalty
    best = int(scores.argmax())
    said = int(lengths[best])
    assert torch.equal(found.tokens[0, 0, :said], every[best, :said])
    assert float(found.scores[0, 0]) == pytest.approx(float(scores[best]))


def test_where_it_looks_is_a_distribution_over_the_source_in_every_head() -> None:
    model, inputs = build(), pairs()[:3]
    maps = model.attention_weights(inputs)
    assert [tuple(weights.shape) for weights in maps] == [(3, 2, TARGET, SOURCE)] * 2
    for weights in maps:
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 2, TARGET).double())
        assert bool((weights[1, :, :, 3:] == 0).all())


def test_of_what_is_half_told_the_rest_is_what_it_said_itself() -> None:
    model, inputs = build(), pairs()[:3]
    source, told = inputs[:, :SOURCE], inputs[:, SOURCE:]
    own = model(inputs).argmax(dim=2)
    projected = model._project(source)
    model.teacher_forcing = 0.0
    heard = model._half_told(told, projected)
    assert torch.equal(heard, torch.cat((told[:, :1], own[:, :-1]), dim=1))
    assert torch.equal(model(inputs).argmax(dim=2), own)  # evaluation is told the truth
    model.teacher_forcing = 1.0
    assert torch.equal(model._half_told(told, projected), told)


def test_one_vocabulary_is_one_matrix_and_two_are_two() -> None:
    names = {
        name: [key for key, _ in build(name).named_parameters() if "decoder." not in key]
        for name in CASES
    }
    embeddings = {
        name: [key for key in keys if "embedding" in key or key.startswith("head")]
        for name, keys in names.items()
    }
    assert list(embeddings.values()) == [
        ["target_embedding.weight"],
        ["source_embedding.weight", "target_embedding.weight"],
        ["source_embedding.weight", "target_embedding.weight", "head.weight"],
    ]


def test_at_the_start_embeddings_are_of_size_1_once_they_are_scaled() -> None:
    config = TransformerConfig(layers=1, heads=2, width=64, dropout=0.0)
    for spec in (replace(SPEC, num_outputs=400), replace(OTHER, num_outputs=400, vocab_size=400)):
        with seeded(0):
            model = Transformer.build(config, spec).requires_grad_(False)
        for embedding in filter(None, (model.source_embedding, model.target_embedding)):
            assert float(embedding.weight.std()) == pytest.approx(64**-0.5, rel=0.05)
            vectors = model._embed(torch.arange(9)[:, None], embedding) - model.positions(0, 1)
            assert float(vectors.std()) == pytest.approx(1, rel=0.1)


@pytest.mark.covers("transformer")
def test_the_stacks_of_the_base_model_have_the_weights_of_torchs_own() -> None:
    kind = MODELS.load("transformer-base")
    with torch.device("meta"):
        model = kind.build(kind.settings(), replace(SPEC, num_outputs=37_000, vocab_size=37_000))
        theirs = nn.Transformer(batch_first=True)
    counts = {name: weight.numel() for name, weight in model.named_parameters()}
    total = sum(count for name, count in counts.items() if "embedding" not in name)
    assert total == sum(weight.numel() for weight in theirs.parameters()) == 44_140_544
    assert sum(counts.values()) == 44_140_544 + 37_000 * 512


def learned(name: str, steps: int, **data: Any) -> dict[str, float]:
    """What a small one makes of pairs drawn by formula."""
    pairs = load(name, **data)
    with seeded(0):
        model = Transformer.build(
            TransformerConfig(layers=1, heads=4, width=32, dropout=0.0), pairs.spec
        )

    def batch(numbers: torch.Generator) -> tuple[Tensor, Tensor]:
        rows = torch.randint(len(pairs.train), (128,), generator=numbers)
        return pairs.train.inputs[rows], pairs.train.targets[rows]

    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        return cross_entropy(logits.flatten(0, 1), targets.flatten())

    train(model, batch, loss, steps=steps, lr=0.003)
    return evaluate(model, pairs.split("test"), task_for(pairs))


@pytest.mark.slow
@pytest.mark.covers("transformer")
def test_a_tiny_one_learns_to_copy_and_to_say_backwards() -> None:
    for name in ("copy", "reverse"):
        assert learned(name, 300, n=3000, length=6, symbols=6)["free_accuracy"] >= 0.99, name


def test_what_does_not_go_together_is_refused() -> None:
    for settings, sentence in (
        ({"heads": 3}, "heads must divide the width, got 3 heads and a width of 8"),
        ({"heads": 1, "width": 7}, "width must be even for sinusoidal positions, got 7"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            TransformerConfig(**{**SMALL, **settings})
    with pytest.raises(ShapeError, match=r"^texts of at most 5 tokens have positions, got 6$"):
        say_greedily(build(), pairs()[:, :6], 1, begin=BOS, end=EOS)


IMAGES = replace(OTHER, input_shape=(9 + TARGET,), source_length=9, source_side=3, padding=None)


@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_an_encoder_of_images_keeps_the_contract(check: Callable[[Build], None]) -> None:
    check(lambda: Transformer.build(TransformerConfig(**SMALL, convolutions=1), IMAGES))


def test_convolutions_tell_which_pixels_lie_beside_each_other() -> None:
    def told_apart(convolutions: int) -> bool:
        """Whether what the encoder is given of pixel 0 depends on pixel 3, which is below it."""
        with seeded(0):
            config = TransformerConfig(**SMALL, dropout=0.0, convolutions=convolutions)
            model = Transformer.build(config, IMAGES).eval()
        image = torch.full((1, 9), 4)
        other = image.clone()
        other[0, 3] = 5
        return not torch.equal(model._embed_source(image)[0, 0], model._embed_source(other)[0, 0])

    assert told_apart(1)
    assert not told_apart(0)


def test_convolutions_over_texts_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^convolutions must be 0 where sources are texts, got 2$"
    ):
        Transformer.build(TransformerConfig(**SMALL, convolutions=2), SPEC)
