"""The summary: counts by hand, rows that add up, and a model that is left exactly as it was."""

import copy
import json
import random
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import DataError
from netwright.core.outputs import Output
from netwright.data.spec import DataSpec
from netwright.inspection.inside.summary import NUMBER_COLUMNS, Summary, measure_summary
from netwright.models.mlp import MLP, MLPConfig
from netwright.models.sequence.lstm import LSTM, LSTMConfig
from netwright.models.transformers.gpt import GPT, GPTConfig


def plain_mlp() -> nn.Sequential:
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 256),
        nn.ReLU(),
        nn.Linear(256, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def named(summary: Summary) -> dict[str, Any]:
    return {layer.path: layer for layer in summary.layers}


def test_the_mlp_of_the_textbook_by_hand() -> None:
    summary = measure_summary(plain_mlp(), torch.zeros(7, 28, 28))
    assert summary.parameters == summary.trainable == 235_146
    assert summary.flops == 2 * (784 * 256 + 256 * 128 + 128 * 10)
    assert summary.bytes == 4 * 235_146
    first = named(summary)["1"]
    assert (first.kind, first.output, first.calls) == ("Linear", "(B, 256)", 1)
    assert (first.parameters, first.trainable) == (784 * 256 + 256, 784 * 256 + 256)
    assert first.flops == 2 * 784 * 256
    relu = named(summary)["2"]
    assert (relu.kind, relu.parameters, relu.flops) == ("ReLU", 0, 0)
    assert [layer.path for layer in summary.layers] == ["0", "1", "2", "3", "4", "5"]


def test_our_mlp_counts_the_same() -> None:
    spec = DataSpec(
        inputs="image",
        input_shape=(1, 28, 28),
        target="class",
        num_outputs=10,
    )
    summary = measure_summary(
        MLP.build(MLPConfig(hidden=(256, 128)), spec), torch.zeros(3, 1, 28, 28)
    )
    assert summary.parameters == 235_146
    assert summary.flops == 2 * (784 * 256 + 256 * 128 + 128 * 10)
    assert named(summary)["head"].output == "(B, 10)"


@pytest.mark.parametrize("batch", [1, 2, 9])
def test_flops_are_an_examples_whatever_the_batch(batch: int) -> None:
    assert measure_summary(nn.Linear(3, 4), torch.zeros(batch, 3)).flops == 24


class Attends(nn.Module):
    """A container with a parameter and a product of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.inner = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        x = cast(Tensor, self.inner(x * self.scale))  # (B, T, 3)
        return x @ x.transpose(1, 2)


def test_a_row_holds_what_is_the_layers_own_and_the_rows_add_up() -> None:
    model = nn.Sequential(Attends(), nn.Linear(4, 2))
    summary = measure_summary(model, torch.zeros(5, 4, 3))
    rows = named(summary)
    assert list(rows) == ["0", "0.inner.0", "0.inner.1", "1"]  # no bare containers
    assert (rows["0"].parameters, rows["0"].flops) == (3, 2 * 4 * 4 * 3)
    assert rows["0"].output == "(B, 4, 4)"
    assert rows["0.inner.0"].flops == 2 * 4 * 3 * 3
    assert summary.flops == 2 * (4 * 4 * 3 + 4 * 3 * 3 + 4 * 4 * 2)
    assert summary.parameters == sum(value.numel() for value in model.parameters())


def test_a_container_with_a_product_alone_has_a_row() -> None:
    class Gram(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Identity()

        def forward(self, x: Tensor) -> Tensor:
            x = self.inner(x)
            return x @ x.T

    rows = named(measure_summary(Gram(), torch.zeros(2, 3)))
    assert list(rows) == ["", "inner"]
    assert rows[""].flops == 2 * 2 * 3 * 2 // 2


class Tied(nn.Module):
    """Words in and words out share their matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 4)
        self.head = nn.Linear(4, 11)
        self.head.weight = self.embed.weight

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.head(self.embed(x)))


def test_a_shared_parameter_is_counted_once() -> None:
    summary = measure_summary(Tied(), torch.zeros(2, 3, dtype=torch.long))
    rows = named(summary)
    assert (rows["embed"].parameters, rows["head"].parameters) == (44, 11)
    assert summary.parameters == 55
    assert summary.bytes == 4 * 55
    assert rows["head"].output == "(B, 3, 11)"


class Odd(nn.Module):
    """Called twice, never called, a tuple, an Output, nothing at all."""

    def __init__(self) -> None:
        super().__init__()
        self.twice = nn.Linear(3, 3)
        self.never = nn.Linear(3, 5)
        self.both = Pair()
        self.none = Nothing()

    def forward(self, x: Tensor) -> Output:
        x, _ = self.both(self.twice(self.twice(x)))
        self.none(x)
        return Output(logits=x[:, :2], aux=(x,))


class Pair(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        return x, {"beside": x}


class Nothing(nn.Module):
    def forward(self, x: Tensor) -> None:
        return None


def test_odd_modules_do_not_break_it() -> None:
    summary = measure_summary(nn.Sequential(Odd()), torch.zeros(2, 3))
    rows = named(summary)
    assert (rows["0.twice"].calls, rows["0.twice"].flops) == (2, 2 * 2 * 3 * 3)
    assert rows["0.twice"].parameters == 12
    assert (rows["0.never"].calls, rows["0.never"].output, rows["0.never"].flops) == (0, "", 0)
    assert rows["0.never"].parameters == 20
    assert rows["0.both"].output == "(B, 3)"
    assert rows["0.none"].output == ""
    outputs = {row["layer"]: row["output"] for row in summary.table_rows()}
    assert outputs["0.never"] == "not called"


class PartOfAParameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.ones(4, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.table[: len(x)]


def test_a_layer_may_give_a_part_of_a_parameter_that_learns() -> None:
    table = PartOfAParameter()
    (row,) = measure_summary(table, torch.zeros(2, 3)).layers
    assert (row.output, row.parameters, row.trainable) == ("(B, 3)", 12, 12)
    assert table.table.requires_grad


def test_every_layer_of_a_sequence_model_is_called_and_costs_what_its_matrices_cost() -> None:
    spec = DataSpec(inputs="tokens", input_shape=(5,), target="tokens", num_outputs=7, vocab_size=7)
    tokens = torch.zeros(2, 5, dtype=torch.int64)
    lstm = named(measure_summary(LSTM(LSTMConfig(hidden=3, embedding=4), spec), tokens))
    calls = {path: layer.calls for path, layer in lstm.items()}
    assert calls == {"embedding": 1, "backbone.rnn": 1, "dropout": 2, "head": 1}
    assert lstm["backbone.rnn"].flops == 5 * 2 * 4 * 3 * (4 + 3)
    gpt = named(measure_summary(GPT(GPTConfig(layers=1, heads=2, width=4), spec), tokens))
    assert all(layer.calls for layer in gpt.values())
    assert gpt["h.0.attn"].flops == 2 * (2 * 5 * 5 * 4)  # all pairs, also those that are masked
    assert gpt[""].flops == 5 * 2 * 4 * 7  # the head, which is the embedding


def test_the_shape_is_that_of_the_first_call() -> None:
    class Shrinks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.squash = nn.Tanh()

        def forward(self, x: Tensor) -> Tensor:
            return cast(Tensor, self.squash(self.squash(x)[:, :1]))

    assert named(measure_summary(Shrinks(), torch.zeros(2, 3)))["squash"].output == "(B, 3)"


def test_an_output_is_read_by_its_logits() -> None:
    model = nn.Sequential(nn.Sequential(Odd()))
    model[0].weight = nn.Parameter(torch.zeros(1))  # so that it has a row
    assert named(measure_summary(model, torch.zeros(2, 3)))["0"].output == "(B, 2)"


def test_only_the_batch_is_called_b() -> None:
    rows = named(measure_summary(nn.Sequential(nn.Flatten(0), nn.Identity()), torch.zeros(3, 3)))
    assert rows["0"].output == "(9)"
    square = measure_summary(nn.Identity(), torch.zeros(3, 3))
    assert square.layers[0].output == "(B, 3)"


def test_frozen_parameters_are_told_apart() -> None:
    model = plain_mlp()
    model[1].weight.requires_grad_(False)
    model[3].requires_grad_(False)
    summary = measure_summary(model, torch.zeros(2, 784))
    assert summary.trainable == 256 + 1290
    shown = {row["layer"]: row["trainable"] for row in summary.table_rows()}
    assert shown == {
        "0": "", "1": "256", "2": "", "3": "no", "4": "", "5": "yes", "total": "1,546",
    }  # fmt: skip


def test_the_table_has_a_row_a_layer_and_the_total() -> None:
    rows = measure_summary(plain_mlp(), torch.zeros(2, 784)).table_rows()
    assert rows[1] == {
        "layer": "1",
        "kind": "Linear",
        "output": "(B, 256)",
        "parameters": "200,960",
        "trainable": "yes",
        "FLOPs": "401,408",
    }
    assert (rows[-1]["layer"], rows[-1]["output"]) == ("total", "")
    assert (rows[-1]["parameters"], rows[-1]["FLOPs"]) == ("235,146", "469,504")
    assert set(NUMBER_COLUMNS) < set(rows[0])
    alone = measure_summary(nn.Linear(2, 2), torch.zeros(1, 2)).table_rows()
    assert alone[0]["layer"] == "(the model)"


def test_buffers_are_memory_but_no_parameters() -> None:
    summary = measure_summary(nn.BatchNorm1d(3), torch.zeros(2, 3))
    assert summary.parameters == 6
    assert summary.bytes == 4 * (6 + 6) + 8  # running means and variances, and an int64 counter


class Restless(nn.Module):
    """Draws, counts and remembers in evaluation mode too."""

    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("last", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        self.last = x.sum().reshape(1)
        random.random()
        np.random.random()
        return x + torch.randn_like(x)


def test_the_model_is_left_exactly_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), Restless())
    model.train()
    model[2].eval()  # a mode of its own
    before = copy.deepcopy(model.state_dict())
    buffers = [id(buffer) for buffer in model.buffers()]
    modes = [module.training for module in model.modules()]
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
    measure_summary(model, torch.randn(4, 3, generator=torch.Generator().manual_seed(0)))
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert [id(buffer) for buffer in model.buffers()] == buffers
    assert [module.training for module in model.modules()] == modes
    assert torch.equal(states[0], torch.get_rng_state())
    assert states[1:] == (random.getstate(), np.random.get_state()[1].tolist())  # type: ignore[index]
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(hooks_of(module) for module in model.modules())


def hooks_of(module: nn.Module) -> int:
    return len(module._forward_hooks) + len(module._forward_pre_hooks)


def test_dropout_is_asleep_while_it_looks() -> None:
    seen = []
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 1))
    handle = model[1].register_forward_hook(lambda *args: seen.append(args[1:]))
    measure_summary(model, torch.ones(4, 3))
    (given,), output = seen[0]
    assert given.equal(torch.ones(4, 3))
    assert not output.requires_grad  # no graph is kept
    assert hooks_of(model[1]) == 1  # the caller's own hook stays
    handle.remove()


def test_hooks_and_modes_are_put_back_after_an_error() -> None:
    model = plain_mlp().train()
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        measure_summary(model, torch.zeros(2, 3))
    assert not any(hooks_of(module) for module in model.modules())
    assert all(module.training for module in model.modules())


@pytest.mark.parametrize("shape", [(), (0, 3)])
def test_no_examples_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(DataError) as refused:
        measure_summary(nn.Linear(3, 1), torch.zeros(shape))
    assert str(refused.value) == f"a summary needs a batch of examples, got shape {shape}"


def bars(summary: Summary) -> tuple[list[str], list[list[float]]]:
    left, right = summary.plot().axes
    names = [label.get_text() for label in left.get_yticklabels()]
    return names, [[patch.get_width() for patch in axes.patches] for axes in (left, right)]  # type: ignore[attr-defined]


def test_the_figure_has_a_bar_for_every_layer_with_something_in_it() -> None:
    summary = measure_summary(plain_mlp(), torch.zeros(2, 784))
    names, (parameters, flops) = bars(summary)
    assert names == ["1 Linear", "3 Linear", "5 Linear"]
    assert parameters == [200_960, 32_896, 1_290]
    assert flops == [401_408, 65_536, 2_560]
    words = [text.get_text() for text in summary.plot().axes[0].texts]
    assert words[0] == " 200,960 (85.5 %)"


def test_of_many_layers_the_largest_are_drawn_and_the_rest_is_one_bar() -> None:
    sizes = [*range(2, 27), 1, 40]
    layers = [nn.LayerNorm(size) for size in sizes]

    class Many(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleList(layers)

        def forward(self, x: Tensor) -> Tensor:
            return x

    names, (parameters, _) = bars(measure_summary(Many(), torch.zeros(1, 1)))
    assert len(names) == 20
    kept = [size for size in sizes if size >= 9]
    assert parameters == [*(2 * size for size in kept), 2 * (1 + sum(range(2, 9)))]
    assert (names[0], names[-1]) == ("parts.7 LayerNorm", "8 others")


def test_of_equal_layers_the_first_are_drawn() -> None:
    model = nn.Sequential(*(nn.Linear(2, 2) for _ in range(30)))
    names, (parameters, flops) = bars(measure_summary(model, torch.zeros(1, 2)))
    assert names == [*(f"{place} Linear" for place in range(19)), "11 others"]
    assert (parameters[-1], flops[-1]) == (11 * 6, 11 * 8)


def test_a_long_path_shows_its_end() -> None:
    class A(nn.Module):
        def __init__(self, inner: nn.Module) -> None:
            super().__init__()
            self.a_rather_long_name = inner

        def forward(self, x: Tensor) -> Tensor:
            return cast(Tensor, self.a_rather_long_name(x))

    names, _ = bars(measure_summary(A(A(nn.Linear(2, 2))), torch.zeros(1, 2)))
    assert names == ["…name.a_rather_long_name Linear"]


def test_a_model_without_parameters_says_so() -> None:
    summary = measure_summary(nn.Flatten(), torch.zeros(2, 3))
    assert [text.get_text() for text in summary.plot().texts] == [
        "no parameters, no matrix products"
    ]
    assert summary.caption.startswith("0 parameters, 0 of them trainable, 0.00 MB; 0 FLOPs")
    assert summary.image("png")


def test_the_caption_holds_the_totals_and_the_largest_layer() -> None:
    assert measure_summary(plain_mlp(), torch.zeros(2, 784)).caption == (
        "235,146 parameters, 235,146 of them trainable, 0.94 MB; 469,504 FLOPs an example, "
        "forward. A multiplication and an addition are two; counted are matrix products, "
        'convolutions and attention. The largest layer, "Linear 1", holds 85.5 % of the '
        "parameters."
    )


def test_the_numbers_are_json() -> None:
    shown = json.loads(json.dumps(measure_summary(plain_mlp(), torch.zeros(2, 784)).to_json()))
    assert shown["bytes"] == 4 * 235_146
    assert shown["layers"][1]["flops"] == 401_408
