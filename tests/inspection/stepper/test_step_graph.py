"""The graph goes from left to right, leaves out what is only moved, and groups what is much."""

import torch
from torch import nn

from netwright.inspection.stepper.step_graph import (
    COLUMNS,
    MOST_GROUPS,
    Graph,
    Links,
    graph_around,
    graph_of,
)
from netwright.inspection.stepper.step_through import step_through


def graph_of_model(model: nn.Module, x: torch.Tensor) -> Graph:
    torch.manual_seed(0)
    return graph_of(Links(step_through(model, x, loss=lambda output: output.sum()).steps))


def assert_left_to_right(graph: Graph) -> None:
    places = {box.key: (box.row, box.column) for box in graph.boxes}
    assert len(set(places.values())) == len(places)  # no two at one place
    for start, end in graph.arrows:
        same_line = places[start][1] < places[end][1]
        assert same_line or places[start][0] < places[end][0]  # or in a line below


def test_every_value_has_a_box_and_what_is_moved_has_none() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(2, 2), nn.Tanh())
    graph = graph_of_model(model, torch.ones(1, 2, 1))
    assert [box.title for box in graph.boxes] == [
        *("x", "1.weight", "1.bias", "#4 linear", "#5 tanh", "#6 sum")
    ]
    assert graph.arrows == ((0, 4), (2, 4), (3, 4), (4, 5), (5, 6))
    assert_left_to_right(graph)
    assert [(box.column, box.row) for box in graph.boxes] == [
        *((0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (3, 0))
    ]


def test_parameters_stand_right_before_their_first_use() -> None:
    graph = graph_of_model(nn.Sequential(nn.Tanh(), nn.Tanh(), nn.Linear(1, 1)), torch.ones(1, 1))
    columns = {box.title: box.column for box in graph.boxes}
    assert columns["2.weight"] == columns["#5 linear"] - 1 == 2


def test_a_large_graph_has_a_box_a_module_and_moment() -> None:
    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn, self.head = nn.LSTM(1, 2, batch_first=True), nn.Linear(2, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.head(self.rnn(x)[0])
            return found

    graph = graph_of_model(Reader(), torch.ones(1, 3, 1))
    titles = [box.title for box in graph.boxes]
    assert titles[:4] == ["x", "rnn t=1", "rnn t=2", "rnn t=3"]
    assert [box.place for box in graph.boxes][1] == "12 operations"
    assert titles[-2].endswith("linear") and titles[-1].endswith("sum")
    keys = {box.title: box.key for box in graph.boxes}
    assert (keys["rnn t=1"], keys["rnn t=2"]) in graph.arrows
    assert (keys["rnn t=1"], keys["rnn t=3"]) not in graph.arrows
    assert_left_to_right(graph)


def test_a_long_graph_is_broken_like_lines_and_coarser_the_longer_it_is() -> None:
    deep = nn.Sequential(*[nn.Sequential(nn.Tanh(), nn.Sigmoid()) for _ in range(24)])
    graph = graph_of_model(deep, torch.ones(1, 1))
    assert len(graph.boxes) == 26 <= MOST_GROUPS  # 24 blocks, the input and the loss
    assert graph.columns == COLUMNS and graph.rows == 4
    assert_left_to_right(graph)


def test_a_part_of_a_graph_has_the_arrows_within_it() -> None:
    steps = step_through(nn.Sequential(nn.Tanh(), nn.Tanh()), torch.ones(1)).steps
    graph = graph_around(Links(steps), [1, 2])
    assert [box.key for box in graph.boxes] == [1, 2]
    assert graph.arrows == ((1, 2),)


def test_links_go_through_what_is_moved() -> None:
    class Moved(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            first, second = x.exp().unsqueeze(0).chunk(2, dim=1)
            return (first * second).sum()

    steps = step_through(Moved(), torch.ones(2)).steps
    links = Links(steps)
    names = {step.name: place for place, step in enumerate(steps)}
    assert links.sources[names["*"]] == [names["exp"]]
    assert links.users[names["exp"]] == [names["*"]]
