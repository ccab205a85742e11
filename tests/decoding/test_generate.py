"""Generating: with and without a cache the same tokens, stops, contexts, and Markov text."""

from dataclasses import replace
from typing import Any, TypeVar

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import generator, seeded
from netwright.data.spec import DataSpec
from netwright.decoding.generate import generate, without_cache
from netwright.decoding.sampling import DecodingConfig
from netwright.models.sequence.gru import GRU, GRUConfig
from netwright.models.transformers.gpt import GPT, GPTConfig

KINDS, EMBEDDING = 11, 6
Kind = TypeVar("Kind", GRU, GPT)
SPEC = DataSpec(
    inputs="tokens", input_shape=(8,), target="tokens", num_outputs=KINDS, vocab_size=KINDS
)
PROMPT = torch.tensor([[1, 2, 3], [4, 5, 6]])


def sharp(model: Kind) -> Kind:
    """With large weights, so that what it has read decides what it says."""
    for weight in model.parameters():
        weight.data.mul_(6)
    return model.double().eval()


def gru() -> GRU:
    with seeded(0):
        config = GRUConfig(hidden=8, embedding=EMBEDDING, dropout=0.0)
        return sharp(GRU(config, SPEC))


def gpt(context: int = 8) -> GPT:
    with seeded(0):
        config = GPTConfig(layers=2, heads=2, width=8, context=context, positions="rotary")
        return sharp(GPT(config, SPEC))


def tokens_of(
    model: Any, config: DecodingConfig, *, cached: bool = True, prompt: Tensor = PROMPT
) -> list[list[int]]:
    read, step = (model.read, model.step) if cached else without_cache(model)
    said = generate(read, step, prompt, config, context=model.context)
    return torch.stack(list(said), dim=1).tolist()


@pytest.mark.covers("autoregressive-decoding")
@pytest.mark.parametrize("build", [gru, gpt])
def test_with_and_without_a_cache_the_tokens_are_the_same_and_end_with_the_stop(
    build: Any,
) -> None:
    model = build()
    for config in (DecodingConfig(temperature=0.0, max_tokens=30), DecodingConfig(max_tokens=30)):
        cached = tokens_of(model, config)  # beyond the context of 8
        assert cached == tokens_of(model, config, cached=False)
        assert all(len(row) == 30 for row in cached)
    alone, free = PROMPT[:1], DecodingConfig(temperature=1.0, max_tokens=30)
    (whole,) = tokens_of(model, free, prompt=alone)
    assert len(set(whole)) > 3
    stop = whole[10]
    (stopped,) = tokens_of(model, replace(free, stop=stop), prompt=alone)
    assert stopped == whole[: whole.index(stop) + 1]


@pytest.mark.parametrize("build", [gru, gpt])
def test_greedy_tokens_are_the_likeliest_after_all_before_them(build: Any) -> None:
    model = build()
    said = torch.tensor(tokens_of(model, DecodingConfig(temperature=0.0, max_tokens=5)))
    text = torch.cat([PROMPT, said], dim=1)
    assert torch.equal(model(text)[:, 2:-1].argmax(dim=2), said)


def test_a_row_that_has_stopped_waits_for_the_others() -> None:
    model = gru()
    free = tokens_of(model, DecodingConfig(max_tokens=40))
    stop = free[0][2]
    first, second = tokens_of(model, DecodingConfig(max_tokens=40, stop=stop))
    assert len(first) == len(second)
    assert set(first[first.index(stop) :]) == {stop}
    ends = [row.index(stop) if stop in row else 39 for row in (first, second)]
    assert len(first) == max(ends) + 1


def test_a_full_context_is_read_anew_from_its_last_half() -> None:
    seen: list[list[int]] = []

    def read(tokens: Tensor) -> tuple[Tensor, None]:
        seen.append(tokens[0].tolist())
        return torch.eye(50)[tokens[:, -1] + 1], None  # the next number comes next

    def step(tokens: Tensor, state: None) -> tuple[Tensor, None]:
        seen[-1].append(int(tokens))
        assert len(seen[-1]) <= 6
        return torch.eye(50)[tokens + 1], None

    config = DecodingConfig(temperature=0.0, max_tokens=9)
    prompt = torch.tensor([[0, 1, 2, 3]])
    said = [int(token) for token in generate(read, step, prompt, config, context=6)]
    assert said == [4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert seen == [[0, 1, 2, 3, 4, 5], [4, 5, 6, 7, 8, 9], [8, 9, 10, 11]]
    seen.clear()
    list(generate(read, step, torch.arange(20)[None], config, context=6))
    assert seen[0] == [14, 15, 16, 17, 18, 19]


def test_tokens_come_one_by_one_and_the_caller_keeps_its_gradients() -> None:
    steps: list[int] = []

    def read(tokens: Tensor) -> tuple[Tensor, None]:
        return torch.zeros(1, 3), None

    def step(tokens: Tensor, state: None) -> tuple[Tensor, None]:
        assert not torch.is_grad_enabled()
        steps.append(int(tokens))
        return torch.zeros(1, 3), None

    said = generate(read, step, torch.tensor([[0]]), DecodingConfig(max_tokens=3))
    for count, _ in enumerate(said):
        assert len(steps) == count
        assert torch.is_grad_enabled()
    assert len(steps) == 2  # after the last token nobody asks


def cost_of_a_token(model: GRU | GPT, before: int) -> int:
    """Multiplications and additions of one step after so many tokens, by torch's counter."""
    _, state = model.read(torch.ones(1, before, dtype=torch.int64))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model.step(torch.tensor([1]), state)  # the fused kernel is not counted, the formula is
    return int(counter.get_total_flops())


@pytest.mark.covers("rnn-inference-cost")
def test_a_token_costs_a_recurrent_model_the_same_and_attention_ever_more() -> None:
    hidden, width, layers = 8, 8, 2
    gates, head = 2 * 3 * hidden * (EMBEDDING + hidden), 2 * hidden * KINDS
    assert {cost_of_a_token(gru(), before) for before in (1, 10, 100)} == {gates + head}
    model = gpt(context=400)
    costs = [cost_of_a_token(model, before) for before in (100, 200, 300)]
    per_key = layers * 2 * (2 * width)  # its score and its value
    assert costs[2] - costs[1] == costs[1] - costs[0] == 100 * per_key


def test_drawn_text_has_the_frequencies_of_the_chain_that_it_is_drawn_from() -> None:
    chain = torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.0, 0.5], [0.2, 0.2, 0.6]])

    def read(tokens: Tensor) -> tuple[Tensor, None]:
        return chain[tokens[:, -1]].log(), None

    def step(tokens: Tensor, state: None) -> tuple[Tensor, None]:
        return chain[tokens].log(), None

    start = torch.randint(3, (200, 1), generator=generator(0))
    as_it_is = DecodingConfig(temperature=1.0, max_tokens=100)
    said = torch.stack(list(generate(read, step, start, as_it_is)), dim=1)
    pairs = torch.bincount((3 * said[:, :-1] + said[:, 1:]).flatten(), minlength=9).view(3, 3)
    torch.testing.assert_close(pairs / pairs.sum(dim=1, keepdim=True), chain, rtol=0, atol=0.02)


def test_a_prompt_without_tokens_is_refused() -> None:
    read, step = without_cache(gru())
    for prompt in (PROMPT[:, :0], PROMPT[0]):
        with pytest.raises(ShapeError) as refusal:
            next(generate(read, step, prompt, DecodingConfig()))
        sentence = f"prompt must be tokens (B, T), at least one, got {tuple(prompt.shape)}"
        assert str(refusal.value) == sentence


@pytest.mark.parametrize("cached", [True, False])
def test_prompts_of_different_lengths_go_on_as_each_alone(cached: bool) -> None:
    model, config = gpt(context=30), DecodingConfig(temperature=0.0, max_tokens=12)
    read, step = (model.read, model.step) if cached else without_cache(model)
    prompts = [torch.tensor([[4, 5, 6, 1]]), torch.tensor([[6]])]
    tokens = torch.tensor([[4, 5, 6, 1], [2, 2, 2, 6]])
    mask = torch.tensor([[1, 1, 1, 1], [0, 0, 0, 1]])
    said = generate(read, step, tokens, config, context=30, attention_mask=mask)
    together = torch.stack(list(said), dim=1).tolist()
    assert together == [tokens_of(model, config, prompt=prompt)[0] for prompt in prompts]
    unmasked = torch.stack(list(generate(read, step, tokens, config, context=30)), dim=1).tolist()
    assert unmasked[0] == together[0]
    assert unmasked[1] != together[1]


def test_padded_prompts_outlast_the_context_with_and_without_a_cache() -> None:
    model, config = gpt(context=8), DecodingConfig(temperature=0.0, max_tokens=20)
    tokens, mask = torch.tensor([[4, 5, 6], [9, 9, 2]]), torch.tensor([[1, 1, 1], [0, 0, 1]])
    written = [
        torch.stack(
            list(generate(read, step, tokens, config, context=8, attention_mask=mask)), dim=1
        ).tolist()
        for read, step in ((model.read, model.step), without_cache(model))
    ]
    assert written[0] == written[1]
    assert len(written[0][0]) == 20


def test_a_model_that_reads_no_mask_is_refused() -> None:
    model = gru()
    said = generate(
        model.read, model.step, PROMPT, DecodingConfig(), attention_mask=torch.ones_like(PROMPT)
    )
    with pytest.raises(ConfigError, match="attention_mask needs a model that reads it, as GPT"):
        next(said)
