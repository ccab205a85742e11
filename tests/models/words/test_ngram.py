"""N-grams: Kneser and Ney's probabilities by loops over counts, a chain, a text that goes on."""

import math
from collections import Counter
from pathlib import Path

import pytest
import torch

import netwright as nw
from netwright.core.errors import DataError
from netwright.data.dataset import Split
from netwright.data.loading.windows import WindowSplit
from netwright.data.spec import DataSpec
from netwright.models.words.ngram import NGram, NGramConfig
from tests.repetition import for_each
from tests.train.token_data import CHAIN, KINDS, markov_text

SIZE = 6


def spec(size: int = SIZE) -> DataSpec:
    return DataSpec(
        inputs="tokens", input_shape=(8,), target="tokens", num_outputs=size, vocab_size=size
    )


def counted(text: torch.Tensor, size: int = SIZE, **settings: object) -> NGram:
    model = NGram.build(NGramConfig(**settings), spec(size))  # type: ignore[arg-type]
    list(model.fit_steps(WindowSplit(stream=text, window=8, stride=3), 0))
    return model


def by_loops(text: list[int], history: list[int], word: int, discount: float | None) -> float:
    """p(word | history) straight from the definition, with as long a context as the history."""
    n = len(history) + 1
    p = 1 / SIZE
    for k in range(1, n + 1):
        grams = [tuple(text[i : i + k]) for i in range(len(text) - k + 1)]
        if k == n:
            counts = Counter(grams)
        else:
            longer = {tuple(text[i : i + k + 1]) for i in range(len(text) - k)}
            counts = Counter(gram[1:] for gram in longer)
        once, twice = (list(counts.values()).count(times) for times in (1, 2))
        d = discount or (once / (once + 2 * twice) if once and twice else 0.5)
        context = tuple(history[len(history) - k + 1 :])
        after = {gram[-1]: count for gram, count in counts.items() if gram[:-1] == context}
        total = sum(after.values())
        if total:
            p = max(after.get(word, 0) - d, 0) / total + d * len(after) / total * p
    return p


@for_each("order, discount", [(1, None), (2, None), (3, None), (3, 0.75), (4, None)])
def test_probabilities_are_those_of_the_definition(order: int, discount: float | None) -> None:
    text = torch.randint(1, SIZE, (60,), generator=torch.Generator().manual_seed(order))
    model = counted(text, order=order, discount=discount)
    rows = torch.randint(0, SIZE, (4, 7), generator=torch.Generator().manual_seed(9))
    p = model(rows).exp()
    torch.testing.assert_close(p.sum(dim=2), torch.ones(4, 7))
    for row, place in ((0, 6), (1, 4), (2, 6), (3, 5)):
        history = rows[row, place - order + 2 : place + 1].tolist()
        expected = [by_loops(text.tolist(), history, word, discount) for word in range(SIZE)]
        torch.testing.assert_close(p[row, place], torch.tensor(expected), rtol=1e-5, atol=1e-6)


def test_overlapping_windows_are_counted_once_and_rows_of_their_own_each() -> None:
    text = torch.randint(0, SIZE, (90,), generator=torch.Generator().manual_seed(0))
    first = counted(text, order=3)
    inputs, targets = text[:-1].view(1, -1), text[1:].view(1, -1)
    whole = NGram.build(NGramConfig(order=3), spec())
    list(whole.fit_steps(Split(inputs=inputs, targets=targets), 0))
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, whole.state_dict()[name]), name


@pytest.mark.covers("markov-model", "language-modeling")
def test_order_two_learns_a_chain_and_longer_ones_no_more() -> None:
    text, other = markov_text(100_000, seed=3), markov_text(20_000, seed=4)
    chain = counted(text, KINDS, order=2)
    learned = chain(torch.arange(KINDS)[None])[0].exp()
    torch.testing.assert_close(learned.double(), CHAIN, rtol=0, atol=0.02)
    nats = {}
    for order in (1, 2, 3, 4):
        logs = counted(text, KINDS, order=order)(other[None, :-1])[0].double()
        nats[order] = -float(logs.gather(1, other[1:, None]).mean())
    often = torch.linalg.matrix_power(CHAIN, 100)[0]  # each word's share in a long text
    entropy = -float((often[:, None] * torch.xlogy(CHAIN, CHAIN)).sum())
    assert nats[2] == pytest.approx(entropy, rel=0.02)
    assert nats[1] > 1.2 * entropy
    assert min(nats[3], nats[4]) > nats[2] - 0.002


def test_a_text_goes_on_as_it_is_read() -> None:
    text = torch.randint(0, SIZE, (200,), generator=torch.Generator().manual_seed(1))
    model = counted(text, order=4)
    rows = text[:10].view(2, 5)
    whole = model(rows)
    logits, state = model.read(rows[:, :2])
    torch.testing.assert_close(logits, whole[:, 1])
    for place in range(2, 5):
        logits, state = model.step(rows[:, place], state)
        torch.testing.assert_close(logits, whole[:, place])
    assert state.shape == (2, 3)


def test_a_run_counts_generates_and_is_opened_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the cat sat on the mat. the dog sat on the log. " * 40)
    run = nw.fit("ngram", str(tmp_path / "a.txt"), window=16, out=tmp_path / "run", quiet=True)
    assert run.results["metrics"]["perplexity"] < 1.5 < run.results["baseline"]["perplexity"]
    said = nw.open_run(tmp_path / "run").generate("the cat sat on", max_tokens=9, top_k=1)
    assert said.startswith(" the ")
    assert math.isfinite(run.evaluate()["loss"])


def test_a_text_shorter_than_its_n_grams_is_refused() -> None:
    model = NGram.build(NGramConfig(order=5), spec())
    row = torch.zeros(1, 3, dtype=torch.int64)
    with pytest.raises(DataError, match=r"order 5 needs texts .* got 4: --set model.order=4"):
        list(model.fit_steps(Split(inputs=row, targets=row), 0))
