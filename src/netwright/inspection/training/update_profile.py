r"""Where the time and the memory of an update go, beside what the hardware can do.

    utilisation = FLOPs of an update / (seconds of an update * FLOP/s of the hardware)

FLOPs are those of the model: matrix products, convolutions, attention and recurrent layers, forward
and backward. What hardware can do is measured, not taken from a data sheet.

Source: Chowdhery et al., "PaLM: Scaling Language Modeling with Pathways" (2022), appendix B.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from netwright.inspection.drawing.figure_style import COLOURS, FAINT, INK, SMALL
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import amount, number, percent, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BARS = 8  # of operations
LONGEST_NAME = 26  # letters of an operation on the figure
HARDWARE = "of the hardware's rate"  # the column of shares
GRAPH = "as one CUDA graph"


@dataclass(frozen=True, kw_only=True)
class UpdatePart:
    """One part of an update.

    Args:
        name: data, forward, backward, guard, optimizer, measures or callbacks.
        seconds: that it takes.
        flops: floating-point operations in it; 0 where it has none, or they are not known.
        bytes: that it has to read and write at least, where that is its work; else 0.
    """

    name: str
    seconds: float
    flops: int = 0
    bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation of torch, or a kernel.

    Args:
        name: torch's.
        calls: an update.
        seconds: an update.
    """

    name: str
    calls: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class HeldMemory:
    """One kind of what is held in memory.

    Args:
        kind: weights, gradients, optimizer ...
        bytes: of it.
    """

    kind: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class UpdateProfile(View):
    """What a few updates of a run showed.

    Args:
        device: in words.
        number_format: in which matrix products are computed.
        unit: what speed is counted in.
        amount: of it, an update.
        seconds: of an update as the run trains; the median of several.
        is_graph: these were started as one CUDA graph each; parts are of updates without it.
        updates: that were looked at by part.
        parts: in their order, medians.
        operations: those that take longest, the longest first.
        busy: seconds of an update in which the device computes; None on a CPU.
        host_waits: seconds of an update in which the host waits for the device; None on a CPU.
        flops_per_second: of matrix products on this hardware, measured.
        bytes_per_second: of copies, read and written, measured.
        memory: by kind.
        peak: bytes, the most that was held at a time.
        peak_of: whether that is of the device's tensors or of the whole process.
        not_counted: why FLOPs and activations are not known, in a few words; else empty.
    """

    title: ClassVar[str] = "Profile of an update"

    device: str
    number_format: str
    unit: Literal["samples", "tokens"]
    amount: float
    seconds: float
    is_graph: bool
    updates: int
    parts: tuple[UpdatePart, ...]
    operations: tuple[Operation, ...]
    busy: float | None
    host_waits: float | None
    flops_per_second: float
    bytes_per_second: float
    memory: tuple[HeldMemory, ...]
    peak: int
    peak_of: Literal["device", "process"]
    not_counted: str

    @property
    def rate(self) -> float:
        """Samples or tokens a second."""
        return self.amount / self.seconds

    @property
    def flops(self) -> int:
        """Of an update."""
        return sum(part.flops for part in self.parts)

    @property
    def utilisation(self) -> float | None:
        """The model's FLOPs a second as a share of the hardware's; None where not counted."""
        return self.flops / self.seconds / self.flops_per_second if self.flops else None

    @property
    def by_parts(self) -> float:
        """Seconds of all parts together, without a graph."""
        return sum(part.seconds for part in self.parts)

    def idle(self, seconds: float) -> float:
        """Of so many seconds of an update, those in which the device is idle."""
        return max(0.0, seconds - (self.busy or 0.0))

    @property
    def size(self) -> tuple[float, float]:
        """Three panels side by side, as high as the longest."""
        bars = max(len(self.parts), len(self.memory), min(MOST_BARS, len(self.operations)))
        return (12.0, 0.95 + 0.27 * max(1, bars))

    @property
    def caption(self) -> str:
        """The speed, the utilisation, what was counted and what not."""
        how = f"{milliseconds(self.seconds)} an update"
        if self.is_graph:
            how += f" {GRAPH}, {milliseconds(self.by_parts)} kernel by kernel, as its parts show"
        used = self.utilisation
        words = [f"{number(self.rate)} {self.unit}/s on {self.device}: {how}."]
        if used is None:
            words.append(f"FLOPs and activations were not counted: {self.not_counted}.")
        else:
            words.append(
                f"Model FLOP utilisation {percent(used)}: {engineering(self.flops, 'FLOP')} an "
                f"update, of the {engineering(self.flops_per_second, 'FLOP/s')} that matrix "
                f"products in {self.number_format} reach on this machine. This counts matrix "
                "products, convolutions, attention and recurrent layers, forward and backward; not "
                "sums, activation functions, normalisation, the optimizer and the guard."
            )
        if self.busy is not None and self.host_waits is not None:
            words.append(
                f"The device runs kernels for {milliseconds(self.busy)} of each update and is idle "
                f"for the rest; the host waits for it for {milliseconds(self.host_waits)}."
            )
        words.append(
            f"Parts are medians of {self.updates} updates; what happens only now and then, such as "
            "a checkpoint, is not in them. Copies reach "
            f"{engineering(self.bytes_per_second, 'B/s')}, read and written. Memory at its peak: "
            f"{engineering(self.peak, 'B')} {_PEAKS[self.peak_of]}."
        )
        return " ".join(words)

    def headline(self) -> list[tuple[str, str, str]]:
        """The main numbers: what each is, its value, and what stands beside it."""
        together = milliseconds(self.by_parts)
        used, reached = self.utilisation, engineering(self.flops_per_second, "FLOP/s")
        return [
            (f"{self.unit} a second", f"{self.rate:,.0f}", f"{number(self.amount)} an update"),
            (
                "an update",
                milliseconds(self.seconds),
                f"{GRAPH}; {together} without" if self.is_graph else f"by parts {together}",
            ),
            (
                "model FLOP utilisation",
                "not counted" if used is None else percent(used),
                f"of {reached} in {self.number_format}",
            ),
            ("memory at its peak", engineering(self.peak, "B"), _PEAKS[self.peak_of]),
        ]

    def table_rows(self) -> list[dict[str, str]]:
        """One row a part, the waits, and the whole."""
        rows = [
            _row(part.name, part.seconds, self.by_parts, _work(part), self._beside_hardware(part))
            for part in self.parts
        ]
        rows += self._with_waits("together", self.by_parts)
        return rows + (self._with_waits(GRAPH, self.seconds) if self.is_graph else [])

    def _with_waits(self, name: str, seconds: float) -> list[dict[str, str]]:
        """A whole update, and how long it waits; shares are of an update by parts."""
        waits = {}
        if self.busy is not None and self.host_waits is not None:
            waits["of it, device idle"] = self.idle(seconds)
            if seconds == self.by_parts:  # what a host does for a graph was not watched
                waits["of it, host waits"] = self.host_waits
        return [_row(*row, self.by_parts) for row in {name: seconds, **waits}.items()]

    def operation_rows(self) -> list[dict[str, str]]:
        """One row an operation."""
        whole = sum(operation.seconds for operation in self.operations)
        return [
            {
                "operation": operation.name,
                "calls": amount(round(operation.calls, 1)),
                "ms": _ms(operation.seconds),
                "share": _share(operation.seconds, whole),
            }
            for operation in self.operations
        ]

    def memory_rows(self) -> list[dict[str, str]]:
        """One row a kind, and the peak."""
        rows = [{"held": held.kind, "MB": f"{held.bytes / 1e6:,.2f}"} for held in self.memory]
        return [*rows, {"held": f"peak {_PEAKS[self.peak_of]}", "MB": f"{self.peak / 1e6:,.2f}"}]

    def draw(self, figure: "Figure") -> None:
        """Bars of time by part, of time by operation, and of memory by kind."""
        left, middle, right = figure.subplots(1, 3)
        parts = [(part.name, 1e3 * part.seconds) for part in self.parts]
        shown = [
            (short_name(operation.name, LONGEST_NAME), 1e3 * operation.seconds)
            for operation in self.operations[:MOST_BARS]
        ]
        held = [(held.kind, held.bytes / 1e6) for held in self.memory]
        whole = 1e3 * sum(operation.seconds for operation in self.operations)
        _draw_bars(left, "ms by part", COLOURS[0], parts, 1e3 * self.by_parts)
        _draw_bars(middle, "ms by operation", COLOURS[1], shown, whole)
        _draw_bars(right, "MB by kind", COLOURS[2], held, sum(amount for _, amount in held))

    def _beside_hardware(self, part: UpdatePart) -> str:
        """Its work a second as a share of what matrix products or copies reach on this machine."""
        if not part.seconds or not (part.flops or part.bytes):
            return ""
        if part.flops:
            share = part.flops / part.seconds / self.flops_per_second
            return f"{percent(share)} of matmul"
        return f"{percent(part.bytes / part.seconds / self.bytes_per_second)} of copy"


_PEAKS = {"device": "of tensors on the device", "process": "of the whole process"}


def milliseconds(seconds: float) -> str:
    """A time that a person compares with others: "1.19 ms"."""
    return f"{_ms(seconds)} ms"


def engineering(value: float, unit: str) -> str:
    """A large number with its prefix: 51.2e12 FLOP/s is "51.2 TFLOP/s"."""
    for power, prefix in ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if value >= 10**power:
            return f"{value / 10**power:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _ms(seconds: float) -> str:
    return number(1e3 * seconds) if seconds >= 0.1 else f"{1e3 * seconds:.3f}"


def _share(seconds: float, whole: float) -> str:
    return percent(seconds / whole) if whole else ""


def _work(part: UpdatePart) -> str:
    if part.flops:
        return engineering(part.flops, "FLOP")
    return engineering(part.bytes, "B") if part.bytes else ""


def _row(
    name: str, seconds: float, whole: float, work: str = "", hardware: str = ""
) -> dict[str, str]:
    return {
        "part": name,
        "ms": _ms(seconds),
        "share": _share(seconds, whole),
        "work": work,
        HARDWARE: hardware,
    }


def _draw_bars(
    axes: "Axes", title: str, colour: str, bars: Sequence[tuple[str, float]], whole: float
) -> None:
    """Bars from the top down, each with its number and share, so no axis is needed."""
    values = [value for _, value in bars]
    axes.set_title(title)
    axes.barh(range(len(bars)), values, height=0.7, color=colour)
    for place, value in enumerate(values):
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        words = f" {shown} ({percent(value / whole, 0)})" if value else " 0"
        axes.text(value, place, words, va="center", fontsize=SMALL, color=INK if value else FAINT)
    axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    axes.set_ylim(max(1, len(bars)) - 0.4, -0.6)  # the first on top
    axes.set_xlim(0, 1.6 * max(values, default=0) or 1)  # room for the longest bar's number
    axes.set_xticks([])
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(length=0, labelsize=SMALL)
