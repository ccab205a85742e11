"""GPT: cached and plain reading agree, nothing looks ahead, and it learns a text by heart."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.config import parse
from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import seeded
from netwright.core.trees import map_tensors
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.catalog import MODELS
from netwright.models.exchange.gpt2_weights import from_gpt2
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.testing.model_contract import MODEL_CHECKS
from netwright.testing.sequence_contract import SEQUENCE_CHECKS
from tests.repetition import for_each

COUNTS = {
    "gpt2": 124_439_808,
    "gpt2-medium": 354_823_168,
    "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "learned": {},
    "sinusoidal": {"positions": "sinusoidal", "bias": False},
    "rotary": {"positions": "rotary", "kv_heads": 2, "tied": False},
    "one-head-of-keys": {"positions": "rotary", "kv_heads": 1, "dropout": 0.1},
    "alibi": {"positions": "alibi"},
    "t5": {"positions": "t5", "kv_heads": 2},
    "window": {"attention": "window", "attention_window": 2},
    "window-global": {
        "attention": "window",
        "attention_window": 3,
        "global_tokens": 2,
        "dropout": 0.1,
    },
    "window-rotary": {
        "attention": "window",
        "attention_window": 1,
        "positions": "rotary",
        "kv_heads": 2,
    },
    "window-alibi": {
        "attention": "window",
        "attention_window": 2,
        "global_tokens": 1,
        "positions": "alibi",
    },
    "window-t5": {"attention": "window", "attention_window": 2, "positions": "t5", "kv_heads": 1},
    "linear": {"attention": "linear"},
    "linear-sinusoidal": {"attention": "linear", "positions": "sinusoidal", "kv_heads": 2},
}
options = pytest.mark.parametrize("name", list(OPTIONS))


def spec(
    length: int = 8,
    vocabulary: int = 11,
    target: TargetKind = "tokens",
    outputs: int | None = None,
    padding: int | None = None,
) -> DataSpec:
    return DataSpec(
        inputs="tokens",
        input_shape=(length,),
        target=target,
        num_outputs=outputs or vocabulary,
        vocab_size=vocabulary,
        padding=padding,
    )


def build(data: DataSpec | None = None, seed: int = 0, **settings: Any) -> GPT:
    small = {"layers": 2, "heads": 4, "width": 16}
    with seeded(seed):
        return GPT.build(GPTConfig(**{**small, **settings}), data or spec())


def sharp(**settings: Any) -> GPT:
    """A model in double precision whose logits differ from text to text."""
    model = build(**settings).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(8 if weight.ndim > 1 else 1)
    return model


def draw(rows: int, length: int, vocabulary: int = 11, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randint(vocabulary, (rows, length), generator=numbers)


def by_heart(model: GPT, x: Tensor, y: Tensor, steps: int, lr: float) -> float:
    """The loss after so many steps of Adam on one batch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x).flatten(0, -2), y.flatten())
        torch.autograd.backward(loss)
        optimizer.step()
    return loss.item()


def write(model: GPT, prompt: Tensor, count: int) -> Tensor:
    """The likeliest next tokens, one after the other, from the cache."""
    logits, state = model.read(prompt)
    written = [logits.argmax(dim=1)]
    while len(written) < count:
        logits, state = model.step(written[-1], state)
        written.append(logits.argmax(dim=1))
    return torch.stack(written, dim=1)


@for_each(("name", "count"), COUNTS.items())
def test_sizes_are_the_published_ones(name: str, count: int) -> None:
    kind = MODELS.load(name)
    with torch.device("meta"):
        model = kind.build(parse(kind.settings, {}), spec(64, vocabulary=50257))
    assert sum(weight.numel() for weight in model.parameters()) == count
    assert model.context == 1024


@options
def test_every_option_keeps_the_contracts(name: str) -> None:
    for check in MODEL_CHECKS + SEQUENCE_CHECKS:
        check(lambda: build(**OPTIONS[name]))


@options
def test_reading_on_from_the_cache_says_what_the_whole_text_says(name: str) -> None:
    model, tokens = sharp(**OPTIONS[name]), draw(3, 8)
    whole = model(tokens).detach()
    assert float(whole.std(dim=0).max()) > 0.1
    logits, state = model.read(tokens[:, :3])
    for place in range(3, 9):
        torch.testing.assert_close(logits, whole[:, place - 1], rtol=1e-10, atol=1e-10)
        if place < 8:
            logits, state = model.step(tokens[:, place], state)


@options
@pytest.mark.covers("autoregressive-decoding")
def test_text_from_the_cache_is_text_by_reading_all_anew_and_ends_where_it_ended(name: str) -> None:
    model, prompt = sharp(**OPTIONS[name], data=spec(30)), draw(4, 5)
    text = prompt
    for _ in range(20):
        text = torch.cat((text, model(text)[:, -1:].argmax(dim=-1)), dim=1)
    written = write(model, prompt, 20)
    assert torch.equal(written, text[:, 5:])
    end = int(written[0, 6])  # taken for the end of the text
    stops = [(row == end).nonzero()[:1].tolist() for row in (written[0], text[0, 5:])]
    assert stops[0] == stops[1] != []


def test_rows_of_a_state_can_be_picked_as_a_beam_picks_them() -> None:
    model, tokens = sharp(), draw(2, 6)
    _, state = model.read(tokens[:, :4])
    order = torch.tensor([1, 0, 1])
    picked = map_tensors(lambda part: part.index_select(0, order), state)
    logits, _ = model.step(tokens[order, 4], picked)
    torch.testing.assert_close(logits, model(tokens[order, :5])[:, -1])
    logits, _ = model.step(tokens[:, 4], state)  # the rows that were picked left it as it was
    torch.testing.assert_close(logits, model(tokens[:, :5])[:, -1])


@pytest.mark.covers("transformer-parallel-training")
def test_one_pass_over_a_text_has_the_loss_of_all_its_beginnings() -> None:
    model, text = sharp(), draw(2, 9)
    x, y = text[:, :-1], text[:, 1:]
    together = functional.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
    alone = [
        functional.cross_entropy(model(x[:, : place + 1])[:, -1], y[:, place], reduction="sum")
        for place in range(8)
    ]
    torch.testing.assert_close(together, torch.stack(alone).sum(), rtol=0, atol=1e-10)


@pytest.mark.covers("gpt")
def test_it_learns_a_periodic_text_writes_it_and_never_looks_ahead() -> None:
    period = torch.tensor(
        [3, 1, 4, 1, 5, 9, 2, 6]
    )  # after a 1 comes 4 or 5: one token is not enough
    text = period.repeat(12)
    windows = text.unfold(0, 17, 1)[:8]
    model = build(spec(16), layers=1, width=32)
    assert by_heart(model, windows[:, :-1], windows[:, 1:], steps=100, lr=1e-2) < 0.05
    last = functional.cross_entropy(model(windows[:, :-1])[:, -1], windows[:, -1]).item()
    assert last < 0.01
    model.eval()
    assert torch.equal(write(model, text[None, :4], 12), text[None, 4:16])
    changed = windows[:, :-1].clone()
    changed[:, 9:] = 0
    assert torch.equal(model(changed)[:, :9], model(windows[:, :-1])[:, :9])


@pytest.mark.slow
@pytest.mark.covers("transformer-universality")
def test_a_small_one_learns_an_arbitrary_table_of_sequences_by_heart() -> None:
    x, y = draw(32, 6), draw(32, 6, seed=1)
    x[:, 0] = torch.arange(32) % 11
    x[:, 1] = torch.arange(32) // 11  # no two begin alike, so that every place can be told
    y[:, 0] = (x[:, 0] + 3) % 11
    model = build(spec(6), width=32)
    by_heart(model, x, y, steps=100, lr=1e-2)
    assert torch.equal(model(x).argmax(dim=-1), y)


def test_weights_start_as_gpt2s_do() -> None:
    model = build(spec(64, vocabulary=500), layers=8, width=64)
    spreads = {name: weight.std().item() for name, weight in model.named_parameters()}
    assert spreads["wte.weight"] == pytest.approx(0.02, rel=0.1)
    assert spreads["wpe.weight"] == pytest.approx(0.02, rel=0.1)
    assert spreads["h.3.mlp.c_fc.weight"] == pytest.approx(0.02, rel=0.1)
    assert spreads["h.3.mlp.c_proj.weight"] == pytest.approx(0.02 / 4, rel=0.1)
    assert spreads["h.3.attn.c_proj.weight"] == pytest.approx(0.02 / 4, rel=0.1)
    assert not any(weight.any() for name, weight in model.named_parameters() if "bias" in name)
    place = build(spec(64), positions="sinusoidal").wpe
    assert isinstance(place, nn.Module)
    assert float(place(0, 64).square().mean().sqrt()) == pytest.approx(0.02)


def test_a_tied_head_is_the_embedding_and_is_saved_once() -> None:
    tied, free = build(), build(tied=False)
    assert set(free.state_dict()) - set(tied.state_dict()) == {"head.weight"}
    assert list(tied.state_dict())[:3] == ["wte.weight", "wpe.weight", "h.0.ln_1.weight"]


@pytest.mark.parametrize("target", ["class", "labels", "real"])
def test_one_answer_is_given_at_the_last_token_before_the_padding(target: TargetKind) -> None:
    model = build(spec(target=target, outputs=3, padding=0)).eval()
    for check in MODEL_CHECKS + SEQUENCE_CHECKS:
        check(lambda: build(spec(target=target, outputs=3, padding=0)))
    text = torch.tensor([[5, 7, 2, 0, 0, 0], [4, 4, 1, 3, 9, 6], [0, 0, 0, 0, 0, 0]])
    answers = model(text)
    assert answers.shape == (3, 3)
    torch.testing.assert_close(answers[:1], model(text[:1, :3]))
    assert bool(answers.isfinite().all())


@options
def test_what_a_text_says_changes_only_with_what_its_weights_read(name: str) -> None:
    model = sharp(**{**OPTIONS[name], "layers": 1})
    tokens = draw(1, 8)
    weights = model.attention_weights(tokens)[0][0]
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(4, 8).double())
    before = model(tokens)[0]
    for place in range(8):
        other = tokens.clone()
        other[0, place] = (tokens[0, place] + 1) % 11
        moved = (model(other)[0] != before).any(dim=-1)
        assert torch.equal(moved, (weights[:, :, place] > 0).any(dim=0)), place


def test_the_weights_of_every_head_can_be_looked_at() -> None:
    model, tokens = sharp(dropout=0.0), draw(2, 6)
    weights = model.attention_weights(tokens)
    assert [tuple(part.shape) for part in weights] == [(2, 4, 6, 6)] * 2
    for part in weights:
        torch.testing.assert_close(part.sum(dim=-1), torch.ones(2, 4, 6).double())
    # The second block's weights are those of what the first gives.
    first, second = model.blocks
    x = first(model.wte(tokens) + model.wpe(0, 6)) if model.wpe is not None else tokens
    torch.testing.assert_close(weights[1], second.attn.attention_weights(second.ln_1(x)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit")  # within torch
@pytest.mark.parametrize("name", ["learned", "rotary"])
def test_it_compiles_as_one_graph(name: str) -> None:
    model, tokens = build(**OPTIONS[name], layers=1), draw(2, 8)
    torch.compiler.reset()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(tokens), model(tokens))


@options
@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # of CPUs without bfloat16
def test_it_trains_in_half_precision(name: str) -> None:
    model, tokens = build(**OPTIONS[name]), draw(2, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(tokens)
    assert logits.dtype == torch.bfloat16
    torch.autograd.backward(logits.float().square().mean())
    assert all(weight.grad is not None for weight in model.parameters())


def test_the_context_is_that_of_the_data_unless_it_is_said() -> None:
    assert build().context == 8
    assert build(context=9).context == 9


@pytest.mark.parametrize(("target", "setting"), [("tokens", "window"), ("class", "max_length")])
def test_a_context_shorter_than_the_data_is_refused(target: TargetKind, setting: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        build(spec(8, target=target), context=5)
    assert str(refusal.value) == (
        f"context must be at least 8, the tokens per example (data.{setting}), got 5"
    )


def test_texts_longer_than_the_context_are_refused() -> None:
    model = build()
    sentence = "^a context of 8 tokens has no room for 9$"
    with pytest.raises(ShapeError, match=sentence):
        model(draw(2, 9))
    _, state = model.read(draw(2, 8))
    with pytest.raises(ShapeError, match=sentence):
        model.step(draw(2, 1)[:, 0], state)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"heads": 3}, "heads must divide the width, got 3 heads and a width of 128"),
        ({"kv_heads": 3}, "kv_heads must divide heads, got 3 of 4"),
        ({"context": 0}, "context must be greater than 0, got 0"),
        (
            {"attention": "window", "attention_window": 0},
            "attention_window must be greater than 0, got 0",
        ),
        (
            {"attention": "linear", "positions": "rotary"},
            "attention=linear has no scores to tell positions by: positions must be learned or "
            "sinusoidal, got rotary",
        ),
        (
            {"global_tokens": 1},
            "global_tokens are for attention=window, got 1 with attention=full",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        GPTConfig(**settings)


def test_rotary_positions_want_an_even_number_of_features_a_head() -> None:
    sentence = "rotary positions rotate pairs of features: wanted an even number, got 3"
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        build(width=12, positions="rotary")


def left_padded(*lengths: int) -> tuple[list[Tensor], Tensor, Tensor]:
    """Texts of these lengths, the same with padding in front, and their mask."""
    texts = [draw(1, length, seed=length) for length in lengths]
    widths = [max(lengths) - length for length in lengths]
    pairs = list(zip(texts, widths, strict=True))
    tokens = torch.cat([functional.pad(text, (width, 0), value=7) for text, width in pairs])
    mask = torch.cat([functional.pad(torch.ones_like(text), (width, 0)) for text, width in pairs])
    return texts, tokens, mask


@options
def test_a_text_behind_padding_says_what_it_says_alone(name: str) -> None:
    # Up to the float32 of the tables, whose rotations depend on distances almost exactly.
    model = sharp(**OPTIONS[name])
    texts, tokens, mask = left_padded(2, 6, 8)
    for given in (mask, mask.bool()):
        for text, logits in zip(texts, model(tokens, given), strict=True):
            wanted = model(text)[0]
            torch.testing.assert_close(logits[-len(wanted) :], wanted, rtol=1e-6, atol=1e-6)
    assert not torch.allclose(model(tokens)[0, -1], model(texts[0])[0, -1])  # or else no mask works


@options
def test_padded_beginnings_go_on_from_the_cache_as_each_alone(name: str) -> None:
    model = sharp(**OPTIONS[name], data=spec(13))
    texts, tokens, mask = left_padded(2, 5, 6)
    logits, state = model.read(tokens, mask)
    alone = [model.read(text) for text in texts]
    for said in draw(3, 6, seed=9).T:
        together = torch.cat([each for each, _ in alone])
        torch.testing.assert_close(logits, together, rtol=1e-6, atol=1e-6)
        logits, state = model.step(said, state)
        alone = [model.step(said[row : row + 1], kept) for row, (_, kept) in enumerate(alone)]
    picked = map_tensors(lambda tensor: tensor[[2, 0]], state)  # as a beam picks them
    both, _ = model.step(torch.tensor([1, 1]), picked)
    (third, _), (first, _) = (model.step(torch.tensor([1]), alone[row][1]) for row in (2, 0))
    torch.testing.assert_close(both, torch.cat([third, first]), rtol=1e-6, atol=1e-6)


def test_a_mask_tells_where_the_one_answer_is_given() -> None:
    model = build(spec(target="class", outputs=3, padding=0)).double().eval()
    text = 1 + draw(1, 5, vocabulary=9)
    wanted = model(text)
    for before in range(4):
        tokens = functional.pad(text, (before, 3 - before), value=5)
        mask = functional.pad(torch.ones_like(text), (before, 3 - before))
        torch.testing.assert_close(model(tokens, mask), wanted, rtol=1e-6, atol=1e-6)


def test_a_hole_in_a_text_is_not_read() -> None:
    model, tokens = sharp(), draw(2, 8)
    mask = torch.ones_like(tokens)
    mask[:, 3] = 0
    other = tokens.clone()
    other[:, 3] = (tokens[:, 3] + 1) % 11
    found, changed = model(tokens, mask), model(other, mask)
    assert torch.equal(found[:, 4:], changed[:, 4:])
    assert not torch.equal(model(tokens)[:, 4:], model(other)[:, 4:])


def test_masks_that_do_not_fit_are_refused() -> None:
    model, tokens = build(), draw(2, 5)
    with pytest.raises(
        ShapeError, match=r"^attention_mask must have shape \(2, 5\), got \(2, 4\)$"
    ):
        model(tokens, torch.ones(2, 4))
    for row in ([1, 1, 1, 0, 0], [0, 1, 0, 1, 1]):
        with pytest.raises(
            ShapeError, match=r"must be padded in front only \(padding_side='left'\)"
        ):
            model.read(tokens, torch.tensor([[1] * 5, row]))


@pytest.mark.slow
def test_a_left_padded_batch_has_the_logits_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=2, n_head=4, n_embd=16, n_positions=8, vocab_size=11)
    with seeded(0):
        theirs = transformers.GPT2LMHeadModel(config).eval()
    ours = build()
    ours.load_state_dict(from_gpt2(theirs.state_dict(), ours.state_dict().keys()))
    _, tokens, mask = left_padded(2, 6, 8)
    positions = (mask.cumsum(dim=1) - 1).clamp_min(0)  # as its generate() counts them
    wanted = theirs(tokens, attention_mask=mask, position_ids=positions).logits
    found = ours.eval()(tokens, mask)
    torch.testing.assert_close(found[mask.bool()], wanted[mask.bool()], rtol=1e-4, atol=1e-4)
