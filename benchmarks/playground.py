"""The playground: pictures a second of the two-moons MLP, at their source and in a page.

At the source a playground draws for nobody: what a picture takes of the thread that trains, and the
share of its time. In the page a studio trains, and chromium without a window draws on the same
machine: pictures a second, from the click on Play to the first picture of a step, what the thread
of the page takes a picture, and the share of the studio that is not training (drawing in the thread
that trains, as at the source, and the thread that sends).

The load of the machine stands beside the figures: the browser, the studio and whatever else runs
share its cores.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from environment import ROOT
from reporting import add_json_option, show

from netwright.recipes.plan.run_plan import PlannedRun
from netwright.recipes.playground.picture import Picture
from netwright.recipes.playground.plans import prepare_plan
from netwright.recipes.playground.playground import Playground

sys.path.append(str(ROOT))
from tests.apps.studio.browser import CHROMIUM, Browser

SETTINGS = {
    "model.hidden": "8,8",
    "model.activation": "tanh",
    "model.dropout": "0",
    "train.optimizer": "adam",
    "train.lr": "0.03",
}
STAGE = "document.querySelector('#stage').dataset"
FIRST = """new Promise((done) => {
  const stage = document.querySelector('#stage'), began = performance.now();
  new MutationObserver((_, watch) => {
    if (Number(stage.dataset.step) > 0) { watch.disconnect(); done(performance.now() - began); }
  }).observe(stage, { attributes: true });
  document.querySelector('#play').click();
})"""


def at_the_source(seconds: float) -> dict[str, Any]:
    """A playground that nobody watches, as fast as it can."""
    pictures = 0

    def count(picture: Picture) -> None:
        nonlocal pictures
        pictures += 1

    planned = PlannedRun(data="moons", model="mlp", settings=SETTINGS)
    with Playground(lambda: prepare_plan(planned.recipe()), count) as playground:
        playground.pace.play()
        time.sleep(1)  # what is loaded at first use is loaded
        thread = playground.pace.ask(time.thread_time)
        before = (thread.result(), pictures, playground.steps, playground.drawing_seconds)
        time.sleep(seconds)
        thread = playground.pace.ask(time.thread_time)
        after = (thread.result(), pictures, playground.steps, playground.drawing_seconds)
    spent, shown, steps, drawing = (b - a for a, b in zip(before, after, strict=True))
    return {
        "name": "at the source",
        "pictures": shown / seconds,
        "steps": steps / seconds,
        "source_ms": 1000 * drawing / shown,
        "share": drawing / spent,
        "core": spent / seconds,
    }


def in_the_page(seconds: float, source_ms: float, size: tuple[int, int]) -> dict[str, Any]:
    """A studio, and a browser that watches it."""
    with (
        tempfile.TemporaryDirectory() as place,
        studio(Path(place)) as (pid, address),
        Browser(Path(place) / "profile", size) as page,
    ):
        page.go(address)
        page.call("Performance.enable", timeDomain="threadTicks")
        began = time.monotonic()
        page.go(address.partition("/enter")[0] + "/playground?speed=0")
        page.wait(f"Number({STAGE}.pictures) > 0")
        opened = time.monotonic() - began
        first = page.ask(FIRST)
        time.sleep(2)
        before = seen(page, pid)
        time.sleep(seconds)
        after = seen(page, pid)
    spent = {name: after[name] - before[name] for name in after}
    shown, training = spent["pictures"], spent["process"] - spent["loop"]
    sent_ms = 1000 * spent["loop"] / shown
    return {
        "name": f"in the page, {size[0]} x {size[1]}",
        "pictures": shown / spent["clock"],
        "steps": spent["steps"] / spent["clock"],
        "opened_ms": 1000 * opened,
        "first_ms": first,
        "source_ms": source_ms,
        "sent_ms": sent_ms,
        "page_ms": 1000 * spent["page"] / shown,
        "browser_ms": 1000 * spent["browser"] / shown,
        "share": (source_ms + sent_ms) * shown / 1000 / spent["process"],
        "core": training / spent["clock"],
    }


def seen(page: Browser, pid: int) -> dict[str, float]:
    """Counts so far: of the page, of its thread, and of the studio's threads."""
    step, pictures = page.ask(f"[Number({STAGE}.step), Number({STAGE}.pictures)]")
    told = {one["name"]: one["value"] for one in page.call("Performance.getMetrics")["metrics"]}
    return {
        "clock": time.monotonic(),
        "pictures": pictures,
        "steps": step,
        "page": told["TaskDuration"],
        "browser": sum(cpu_seconds(one / "stat") for one in processes_of(page.profile)),
        "process": cpu_seconds(Path(f"/proc/{pid}/stat")),
        "loop": cpu_seconds(Path(f"/proc/{pid}/task/{pid}/stat")),  # its first thread sends
    }


def processes_of(profile: Path) -> list[Path]:
    """The processes of the browser with this profile."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(profile).encode() in (one / "cmdline").read_bytes():
                found.append(one)
    return found


def cpu_seconds(stat: Path) -> float:
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def studio(place: Path) -> Iterator[tuple[int, str]]:
    """A studio of an empty folder: its process id and its address."""
    (place / "work").mkdir()
    words = [sys.executable, "-m", "netwright", "studio", str(place / "work"), "--port", "0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        yield process.pid, process.stderr.readline().split(": ", 1)[1].strip()
    finally:
        process.terminate()
        process.wait()


COLUMNS = {
    "where": ("name", ""),
    "pictures/s": ("pictures", ".1f"),
    "steps/s": ("steps", ".0f"),
    "page opened ms": ("opened_ms", ".0f"),
    "first after click ms": ("first_ms", ".0f"),
    "drawn ms": ("source_ms", ".2f"),
    "sent ms": ("sent_ms", ".2f"),
    "page ms": ("page_ms", ".2f"),
    "browser ms": ("browser_ms", ".2f"),
    "share of the studio": ("share", ".1%"),
    "of a core for training": ("core", ".0%"),
    "load": ("load", ".1f"),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--size", type=int, nargs=2, default=(1400, 1000), help="of the window")
    add_json_option(parser)
    given = parser.parse_args()
    rows = [at_the_source(given.seconds)]
    rows[-1]["load"] = os.getloadavg()[0]
    if CHROMIUM is not None:
        rows.append(in_the_page(given.seconds, rows[0]["source_ms"], tuple(given.size)))
        rows[-1]["load"] = os.getloadavg()[0]
    title = f"two moons, MLP 8,8, {os.cpu_count()} cores, {given.seconds:.0f} s each"
    show(rows, COLUMNS, title=title, as_json=given.json)


if __name__ == "__main__":
    main()
