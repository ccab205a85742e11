"""Logits in parts or as a whole: the same loss, measures and weights after 50 steps."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.outputs import UnscoredTokens
from netwright.core.seeding import generator, seeded
from netwright.data.dataset import Data, Split
from netwright.data.loading.loader import Batch
from netwright.data.spec import IGNORED, DataSpec
from netwright.data.text.pretraining.masking import mask_tokens
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.inspection.inside.flops import counting_flops
from netwright.losses import linear_cross_entropy as chunks
from netwright.models.sequence.jordan import Jordan, JordanConfig
from netwright.models.transformers.bert import BERT, BERTConfig
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.models.transformers.transformer import Transformer, TransformerConfig
from netwright.train.evaluate import measure_quickly
from netwright.train.own.metrics import read_metrics
from netwright.train.tasks import per_token
from netwright.train.tasks.forward_pass import forward_for
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.masked_tokens import MaskedTokens
from netwright.train.tasks.next_token import NextToken
from netwright.train.tasks.sequence_to_sequence import SequenceToSequence
from tests.train.token_data import KINDS, small_lstm, text_data, whole
from tests.train.toy_runs import toy_fit

PLAIN = LanguageModelling(KINDS)


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A vocabulary counts as large, and a chunk has three places."""
    monkeypatch.setattr(per_token, "LARGE_VOCABULARY", 2)
    monkeypatch.setattr(chunks, "MOST_LOGITS", 3 * KINDS)


def small_gpt(data: Data, **settings: Any) -> GPT:
    with seeded(0):
        chosen = GPTConfig(**{"layers": 2, "heads": 2, "width": 8, **settings})
        return GPT.build(chosen, data.spec).double()


def with_ignored(data: Data) -> Data:
    """Some places do not count, and texts have weights."""
    split = data.train
    targets = split.targets.clone()
    targets[1, 2:] = targets[4] = IGNORED
    weights = torch.arange(len(split)).double() / 5
    return replace(data, train=Split(inputs=split.inputs, targets=targets, weights=weights))


def test_only_a_large_vocabulary_and_plain_cross_entropy_are_scored_in_parts() -> None:
    large = per_token.LARGE_VOCABULARY
    assert LanguageModelling(large).scores_in_parts
    assert not LanguageModelling(large - 1).scores_in_parts
    assert not LanguageModelling(large, smoothing=0.1).scores_in_parts
    assert not LanguageModelling(large, loss="focal").scores_in_parts


def test_a_model_that_cannot_stop_short_or_is_watched_is_called_whole(in_parts: None) -> None:
    data = text_data()
    with seeded(0):
        other = Jordan.build(JordanConfig(hidden=3, embedding=3), data.spec)
    model = small_gpt(data)
    assert isinstance(forward_for(model, PLAIN)(data.train.inputs), UnscoredTokens)
    assert forward_for(other, PLAIN) is other
    handle = model.register_forward_hook(lambda *_: None)
    assert forward_for(model, PLAIN) is model
    handle.remove()
    wrapped: nn.Module = nn.Sequential(model)
    assert forward_for(wrapped, PLAIN) is wrapped


@pytest.mark.parametrize("kind", ["forward_hook", "full_backward_hook", "full_backward_pre_hook"])
def test_a_hook_that_comes_later_runs_from_then_on(in_parts: None, kind: str) -> None:
    data = text_data()
    model = small_gpt(data)
    forward = forward_for(model, PLAIN)
    handle = getattr(model, f"register_{kind}")(lambda *_: None)
    assert forward_for(model, PLAIN) is model
    assert isinstance(forward(data.train.inputs), torch.Tensor)  # of a call, not of `unscored`
    handle.remove()
    assert isinstance(forward(data.train.inputs), UnscoredTokens)


def test_a_compiler_takes_it_as_one_graph(in_parts: None) -> None:
    data = text_data()
    model = small_gpt(data)
    forward = torch.compile(forward_for(model, PLAIN), backend="eager", fullgraph=True)
    out, wanted = forward(data.train.inputs), model.unscored(data.train.inputs)
    assert isinstance(out, UnscoredTokens)
    assert torch.equal(out.vectors, wanted.vectors)


@pytest.mark.parametrize("task", [LanguageModelling(KINDS), NextToken(KINDS)])
@pytest.mark.parametrize("kind", ["tied", "untied", "lstm"])
def test_the_loss_and_what_is_measured_are_those_of_all_logits(
    monkeypatch: pytest.MonkeyPatch, in_parts: None, kind: str, task: LanguageModelling
) -> None:
    data = with_ignored(text_data())
    is_gpt = kind != "lstm"
    model = small_gpt(data, tied=kind == "tied") if is_gpt else small_lstm(data.spec).double()
    batch = whole(data.train)
    told, loss = task.score(model.unscored(batch.inputs), batch)
    logits = model(batch.inputs)
    wanted = task.loss(logits, batch)
    torch.testing.assert_close(loss, wanted, rtol=1e-12, atol=0)
    measured = (batch.targets, batch.weights)
    assert torch.equal(task.headline_sum(told, *measured), task.headline_sum(logits, *measured))
    weights = list(model.parameters())
    ours, theirs = (torch.autograd.grad(one, weights) for one in (loss, wanted))
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-10, atol=1e-13)
    monkeypatch.setattr(per_token, "LARGE_VOCABULARY", KINDS + 1)
    seen, again = task.score(model.unscored(batch.inputs), batch)
    assert torch.equal(again, wanted)
    assert isinstance(seen, torch.Tensor) and torch.equal(seen, logits)


def masked_batch() -> tuple[BERT, Batch]:
    spec = DataSpec(
        inputs="masked", input_shape=(9,), target="tokens", num_outputs=KINDS, vocab_size=KINDS + 1
    )
    with seeded(0):
        model = BERT.build(BERTConfig(layers=1, heads=2, width=8, context=9), spec).double().eval()
        texts = torch.randint(4, KINDS, (5, 9))
        texts[:, 0], texts[:, 4], texts[:, 8] = BOS, EOS, EOS
        inputs, targets = mask_tokens(texts, KINDS, generator(0, "masks"))
    targets[:, 0] = torch.tensor([0, 1, 1, 0, 1])
    targets[2, 1:] = IGNORED  # nothing of this text was chosen
    return model, Batch(inputs, targets, torch.arange(1, 6).double() / 3, torch.arange(5))


def translated_batch() -> tuple[Transformer, Batch]:
    spec = DataSpec(
        inputs="pairs",
        input_shape=(9,),
        target="tokens",
        num_outputs=KINDS,
        vocab_size=KINDS,
        padding=PAD,
        source_length=4,
    )
    with seeded(0):
        config = TransformerConfig(layers=1, heads=2, width=8)
        model = Transformer.build(config, spec).double().eval()
        pairs, targets = torch.randint(4, KINDS, (5, 9)), torch.randint(4, KINDS, (5, 5))
    targets[1, 3:] = IGNORED
    return model, Batch(pairs, targets, torch.arange(1, 6).double() / 3, torch.arange(5))


@pytest.mark.parametrize("is_masked", [True, False])
def test_masked_text_and_pairs_are_scored_in_parts_as_by_all_logits(
    in_parts: None, is_masked: bool
) -> None:
    model, batch = masked_batch() if is_masked else translated_batch()
    task = MaskedTokens(KINDS) if is_masked else SequenceToSequence(KINDS)
    made = forward_for(model, task)(batch.inputs)
    assert isinstance(made, UnscoredTokens)
    torch.testing.assert_close(made.logits, model(batch.inputs), rtol=1e-12, atol=1e-12)
    told, loss = task.score(made, batch)
    assert isinstance(told, torch.Tensor) and told.ndim == 2
    logits = model(batch.inputs)
    wanted = task.loss(logits, batch)
    torch.testing.assert_close(loss, wanted, rtol=1e-12, atol=0)
    measured = (batch.targets, batch.weights)
    assert torch.equal(task.headline_sum(told, *measured), task.headline_sum(logits, *measured))
    weights = list(model.parameters())
    ours, theirs = (torch.autograd.grad(one, weights, allow_unused=True) for one in (loss, wanted))
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-10, atol=1e-13)


def test_on_a_cpu_what_is_one_chunk_is_scored_whole(
    monkeypatch: pytest.MonkeyPatch, in_parts: None
) -> None:
    data = text_data()
    model, batch = small_gpt(data), whole(data.train)
    told, _ = PLAIN.score(model.unscored(batch.inputs), batch)
    assert isinstance(told, torch.Tensor) and told.ndim == 2
    monkeypatch.setattr(chunks, "MOST_LOGITS", batch.targets.numel() * KINDS)
    logits, loss = PLAIN.score(model.unscored(batch.inputs), batch)
    assert isinstance(logits, torch.Tensor) and torch.equal(logits, model(batch.inputs))
    assert torch.equal(loss, PLAIN.loss(logits, batch))


@pytest.mark.parametrize("settings", [{}, {"tied": False, "dropout": 0.2}])
def test_weights_history_and_validation_are_the_same_after_50_steps(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    data = with_ignored(text_data(length=165))
    steps: dict[str, Any] = {"epochs": 10, "batch_size": 9, "lr": 0.01}
    plain = small_gpt(data, **settings)
    before = toy_fit(plain, data, **steps)
    assert before.step == 50
    monkeypatch.setattr(per_token, "LARGE_VOCABULARY", 2)
    monkeypatch.setattr(chunks, "MOST_LOGITS", 3 * KINDS)
    calls: list[int] = []
    unscored = GPT.unscored

    def noted(self: GPT, tokens: torch.Tensor) -> UnscoredTokens:
        calls.append(len(tokens))
        return unscored(self, tokens)

    monkeypatch.setattr(GPT, "unscored", noted)
    model = small_gpt(data, **settings)
    after = toy_fit(model, data, **steps)
    assert len(calls) >= 50
    for own, other in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-8, atol=1e-10)
    rows, others = after.history.as_dict(), before.history.as_dict()
    for name in ("train/loss", "train/accuracy", "val/loss", "val/accuracy"):
        assert rows[name] == pytest.approx(others[name], rel=1e-6)


def test_all_products_of_the_head_are_counted_as_those_of_whole_logits(in_parts: None) -> None:
    data = text_data()
    model, batch = small_gpt(data), whole(data.train)
    with counting_flops() as ours:
        PLAIN.score(model.unscored(batch.inputs), batch)[1].backward()  # type: ignore[no-untyped-call]
    with counting_flops() as plain:
        PLAIN.loss(model(batch.inputs), batch).backward()  # type: ignore[no-untyped-call]
    assert ours.get_total_flops() == plain.get_total_flops()


def test_a_measure_of_the_callers_own_gets_all_probabilities(in_parts: None) -> None:
    data, task = text_data(), LanguageModelling(KINDS)
    model = small_gpt(data)
    assert data.val is not None
    quick = measure_quickly(model, data.val, task)
    seen: list[tuple[int, ...]] = []

    def own(predictions: Any, targets: Any) -> float:
        seen.append(tuple(predictions.shape))
        return 0.5

    task.own_metrics = read_metrics({"own": own})
    measured = measure_quickly(model, data.val, task)
    assert measured["own"] == 0.5
    assert seen[0][-1] == KINDS
    assert measured["loss"] == pytest.approx(quick["loss"], rel=1e-9)
