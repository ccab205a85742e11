"""What is counted, as Prometheus reads it."""

import re
import threading

from netwright.apps.server.measurements import Measurements

LINE = re.compile(r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? \S+')


def test_counters_and_gauges_by_hand() -> None:
    measured = Measurements()
    measured.count("netwright_rows_total", 2, run="a")
    measured.count("netwright_rows_total", 3, run="a")
    measured.count("netwright_streams", 1)
    measured.count("netwright_streams", -1)
    assert measured.total("netwright_rows_total", run="a") == 5
    assert measured.text().splitlines() == [
        "# HELP netwright_rows_total Rows, texts and images answered.",
        "# TYPE netwright_rows_total counter",
        'netwright_rows_total{run="a"} 5',
        "# HELP netwright_streams Texts that are being generated.",
        "# TYPE netwright_streams gauge",
        "netwright_streams 0",
    ]


def test_a_histogram_counts_what_is_at_most_each_bound() -> None:
    measured = Measurements()
    for value in (1, 2, 2.5, 9):
        measured.observe("netwright_batch_rows", value, (1.0, 2.0, 4.0), run="a")
    assert measured.text().splitlines()[2:] == [
        'netwright_batch_rows_bucket{run="a",le="1"} 1',
        'netwright_batch_rows_bucket{run="a",le="2"} 2',
        'netwright_batch_rows_bucket{run="a",le="4"} 3',
        'netwright_batch_rows_bucket{run="a",le="+Inf"} 4',
        'netwright_batch_rows_sum{run="a"} 14.5',
        'netwright_batch_rows_count{run="a"} 4',
    ]


def test_a_name_cannot_feign_a_line() -> None:
    measured = Measurements()
    measured.count("netwright_rows_total", run='a"} 1\nfeigned{x="\\')
    lines = measured.text().splitlines()
    assert len(lines) == 3
    assert LINE.fullmatch(lines[-1])


def test_threads_lose_no_count() -> None:
    measured = Measurements()

    def add() -> None:
        for _ in range(2000):
            measured.count("netwright_rows_total", run="a")

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert measured.total("netwright_rows_total", run="a") == 8000


def test_what_is_kept_to_be_added_to_is_what_its_name_and_labels_find() -> None:
    measured = Measurements()
    kept = measured.counter("netwright_rows_total", run="a")
    times = measured.histogram("netwright_batch_rows", (1.0,), run="a")
    for _ in range(2):
        kept.add(2)
        measured.count("netwright_rows_total", run="a")
        times.add(3)
        measured.observe("netwright_batch_rows", 1, (1.0,), run="a")
    assert measured.total("netwright_rows_total", run="a") == kept.value == 6
    assert times.read() == ([2, 2], 8)
