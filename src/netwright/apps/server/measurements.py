"""What a server counts, in the text format of Prometheus.

Source: Prometheus, "Exposition formats" (version 0.0.4).
"""

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
ROWS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 1024.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = tuple[tuple[str, str], ...]

HELP = {
    "netwright_requests_total": "Requests answered or refused, by run, operation and status.",
    "netwright_request_seconds": "Seconds from the head of a request to its response.",
    "netwright_rows_total": "Rows, texts and images answered.",
    "netwright_batch_rows": "Rows that were passed to the model together.",
    "netwright_waiting_requests": "Requests that wait for the model.",
    "netwright_streams": "Texts that are being generated.",
    "netwright_reloads_total": "Changes of a run's folder, by whether they could be loaded.",
}


class Counter:
    """A counter or a gauge, which several threads add to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.value = 0.0

    def add(self, amount: float = 1) -> None:
        """Count so many; of a gauge the amount may be negative."""
        with self._lock:
            self.value += amount


class Histogram:
    """How many values were at most each bound; several threads add to it.

    Args:
        bounds: ascending; above the last is infinity.
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._lock = threading.Lock()
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        """Count one value."""
        with self._lock:
            self.counts[bisect_left(self.bounds, value)] += 1
            self.sum += value

    def read(self) -> tuple[list[int], float]:
        """The counts, and the sum of the same values."""
        with self._lock:
            return list(self.counts), self.sum


class Measurements:
    """Counters, gauges and histograms by name and labels.

    To find one takes longer than to add to it: who counts every request keeps what it adds to.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, dict[Labels, Counter]] = defaultdict(dict)
        self._histograms: dict[str, dict[Labels, Histogram]] = defaultdict(dict)

    def counter(self, name: str, **labels: str) -> Counter:
        """The counter or gauge of these labels."""
        with self._lock:
            return self._counters[name].setdefault(tuple(labels.items()), Counter())

    def histogram(self, name: str, bounds: tuple[float, ...], **labels: str) -> Histogram:
        """The histogram of these labels."""
        with self._lock:
            return self._histograms[name].setdefault(tuple(labels.items()), Histogram(bounds))

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter; to a gauge also what is negative."""
        self.counter(name, **labels).add(amount)

    def observe(self, name: str, value: float, bounds: tuple[float, ...], **labels: str) -> None:
        """Add a value to a histogram."""
        self.histogram(name, bounds, **labels).add(value)

    def total(self, name: str, **labels: str) -> float:
        """What a counter or a gauge stands at."""
        return self.counter(name, **labels).value

    def text(self) -> str:
        """All of them, as Prometheus reads them."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        for name, counters in self._counters.items():
            yield from _head(name, "counter" if name.endswith("_total") else "gauge")
            for labels, counter in counters.items():
                yield f"{name}{_written(labels)} {_number(counter.value)}"
        for name, histograms in self._histograms.items():
            yield from _head(name, "histogram")
            for labels, histogram in histograms.items():
                below = 0
                counts, total = histogram.read()
                ends = [*map(_number, histogram.bounds), "+Inf"]
                for end, count in zip(ends, counts, strict=True):
                    below += count
                    yield f"{name}_bucket{_written((*labels, ('le', end)))} {below}"
                yield f"{name}_sum{_written(labels)} {_number(total)}"
                yield f"{name}_count{_written(labels)} {below}"


def _head(name: str, kind: str) -> Iterator[str]:
    help_texts: Mapping[str, str] = HELP
    yield f"# HELP {name} {help_texts[name]}"
    yield f"# TYPE {name} {kind}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _written(labels: Labels) -> str:
    parts = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{parts}}}" if parts else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
