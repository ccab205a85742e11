"""Word2vec against gensim and fastText: words a second, and what the vectors are worth.

    python benchmarks/wiki_text.py enwik8.gz corpus.txt
    python benchmarks/word2vec.py corpus.txt --epochs 1 --seeds 3 --threads 2
    python benchmarks/word2vec.py corpus.txt --epochs 1 --seeds 3 --threads 2 --floor 0.5
    python benchmarks/word2vec.py corpus.txt --memory

The corpus is a text in which blanks separate words, such as text8. All learn skip-gram of the same
vocabulary with the same settings (100 features, window 5, 5 negatives, sample 1e-3), by turns. The
rate falls from 0.025 to `--floor` times that; fastText's always falls to 0, so that it has no part
where a floor is given. What is timed is learning alone, by the clock and in CPU-seconds, which
other work on the machine does not change; fastText's time includes that it reads the file once
more; it takes no seed, and its runs differ by its threads, of which it has ten. gensim reads
`corpus_file`, its fastest way in. A peer's run that fails is left out. Scores are those of
`netwright words RUN evaluate`.

`--memory` tells the largest private memory of a process that reads and learns from the corpus, and
from the corpus ten times over. `--device cuda` times the plain version there, alone.

Needs numba, the tests of `word-similarity` in a folder of NETWRIGHT_DATA, and gensim or fastText.
"""

import argparse
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from reporting import add_json_option, show

from netwright.data.words.word_corpus import WordsConfig, load_words
from netwright.data.words.word_stream import WordStream
from netwright.data.words.word_tests import find_tests, score_file
from netwright.data.words.word_vectors import WordVectors
from netwright.models.words.word2vec import Word2Vec, Word2VecConfig

SENTENCE = 1000  # words: peers take texts in lines
RATE, SAMPLE = 0.025, 1e-3
LEAST = 5  # count of a word
# Each thread of fastText 0.9.3 gives first values to a tenth of its vectors; with fewer threads the
# rest is whatever lies in memory, and often it ends in "Encountered NaN".
FASTTEXT_THREADS = 10
MEGABYTE = 2**20
COLUMNS = {
    "who": ("who", ""),
    "seed": ("seed", ""),
    "words a second": ("rate", ",.0f"),
    "words a CPU-second": ("cpu_rate", ",.0f"),
    "WordSim-353": ("WordSim-353", ".3f"),
    "SimLex-999": ("SimLex-999", ".3f"),
    "analogies": ("analogies", ".3f"),
}
MEMORY_COLUMNS = {"words": ("words", ",d"), "private memory, MB": ("megabytes", ",.0f")}


class Stopwatch:
    """By the clock, and in CPU-seconds of all threads of the process."""

    def __enter__(self) -> "Stopwatch":
        self.clock, self.cpu = -time.perf_counter(), -time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.clock += time.perf_counter()
        self.cpu += time.process_time()


def ours(stream: WordStream, model: Word2Vec, seed: int) -> tuple[Stopwatch, np.ndarray]:
    warm = WordStream(np.array(stream.words[:SENTENCE]), SENTENCE)
    other = Word2Vec.build(model.how, model.spec).to(model.vectors.device)
    next(other.fit_steps(warm, 0))  # compiles, and wakes the device
    with Stopwatch() as watch:
        for _ in model.fit_steps(stream, seed):
            pass
    return watch, model.vectors.cpu().numpy()[4:]


def gensims(lines: Path, tokens: tuple[str, ...], given: argparse.Namespace, seed: int):  # type: ignore[no-untyped-def]
    from gensim.models import Word2Vec as Peer

    peer = Peer(vector_size=100, window=5, negative=5, sg=1, min_count=1, sample=SAMPLE, alpha=RATE,
                min_alpha=given.floor * RATE, seed=seed + 1, workers=given.threads,
                epochs=given.epochs)  # fmt: skip
    peer.build_vocab(corpus_file=str(lines))
    with Stopwatch() as watch:
        peer.train(
            corpus_file=str(lines),
            total_words=peer.corpus_total_words,
            # With `corpus_file` each thread of gensim 4.4.0 sets its rate by the lines it has read
            # itself, of these: with all lines it would fall by 1 / threads of what is asked for.
            total_examples=peer.corpus_count // given.threads,
            epochs=given.epochs,
        )
    return watch, np.stack([peer.wv[token] for token in tokens])


def fasttexts(lines: Path, tokens: tuple[str, ...], given: argparse.Namespace, _seed: int):  # type: ignore[no-untyped-def]
    import fasttext

    with Stopwatch() as watch:
        threads = max(FASTTEXT_THREADS, given.threads)
        peer = fasttext.train_unsupervised(
            str(lines), model="skipgram", dim=100, ws=5, neg=5, minCount=1, t=SAMPLE, lr=RATE,
            maxn=0, bucket=0, epoch=given.epochs, thread=threads, verbose=0,
        )  # fmt: skip
    return watch, np.stack([peer.get_word_vector(token) for token in tokens])


def compare(given: argparse.Namespace) -> None:
    data = load_words(WordsConfig(path=str(given.corpus), split_at="spaces"))
    tokens: tuple[str, ...] = data.preprocessor.tokenizer.tokens  # type: ignore[union-attr]
    stream = data.train
    assert isinstance(stream, WordStream)
    known = stream.words[stream.words >= 4]
    version = "compiled" if given.device == "cpu" else "plain"
    how = Word2VecConfig(
        epochs=given.epochs,
        lr=RATE,
        floor=given.floor,
        threads=given.threads,
        version=version,  # type: ignore[arg-type]
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "corpus.txt"
        with lines.open("w") as file:
            for begin in range(0, len(known), SENTENCE):
                words = (tokens[word] for word in known[begin : begin + SENTENCE])
                file.write(" ".join(words) + "\n")
        peers: dict[str, Callable[[int], tuple[Stopwatch, np.ndarray]]] = {
            "netwright": lambda seed: ours(
                stream, Word2Vec.build(how, data.spec).to(given.device), seed
            )
        }
        if given.device == "cpu":
            for name, peer in (("gensim", gensims), ("fasttext", fasttexts)):
                if find_spec(name) and not (given.floor and name == "fasttext"):
                    peers[name] = lambda seed, peer=peer: peer(lines, tokens[4:], given, seed)  # type: ignore[misc]
        for seed in range(given.seeds):
            for who, learn in peers.items():
                try:
                    watch, vectors = learn(seed)
                except RuntimeError as error:  # fastText: "Encountered NaN."
                    if who == "netwright":
                        raise
                    print(f"{who}, seed {seed}, is left out: {error}", flush=True)
                    continue
                found = WordVectors(words=tokens[4:], vectors=vectors)
                row = {
                    "who": who,
                    "seed": seed,
                    "rate": given.epochs * len(known) / watch.clock,
                    "cpu_rate": given.epochs * len(known) / watch.cpu,
                    **{
                        name: score_file(found, name, path)[0].score
                        for name, path in find_tests().items()
                    },
                }
                print(row, flush=True)  # a run takes long: what is known, is told
                rows.append(row)
    title = f"{len(known):,} words, {len(tokens) - 4:,} different ones, {given.epochs} epochs, "
    title += f"{given.threads} threads, rate {RATE:g} to {given.floor * RATE:g}"
    show(rows, COLUMNS, title=title, as_json=given.json)


def private_memory() -> int:
    """Bytes of this process that are no pages of a file: those can be dropped at any time."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    raise SystemExit("--memory needs Linux")


def _learn_watched(
    path: str, least: int, threads: int, told: "multiprocessing.SimpleQueue[int]"
) -> None:
    most, is_over = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not is_over.wait(0.02):
            most = max(most, private_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    data = load_words(WordsConfig(path=path, split_at="spaces", min_count=least))
    model = Word2Vec.build(Word2VecConfig(epochs=1, threads=threads), data.spec)
    for _ in model.fit_steps(data.train, 0):
        pass
    is_over.set()
    watcher.join()
    told.put(most)


def measure_memory(given: argparse.Namespace) -> None:
    rows = []
    text = given.corpus.read_text(encoding="utf-8")
    for times in (1, 10):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "corpus.txt"
            with path.open("w", encoding="utf-8") as file:
                for _ in range(times):
                    file.write(text + "\n")
            context = multiprocessing.get_context("spawn")
            told = context.SimpleQueue()
            given_over = (str(path), LEAST * times, given.threads, told)  # the same vocabulary
            process = context.Process(target=_learn_watched, args=given_over)
            process.start()
            process.join()
            words = times * (text.count(" ") + 1)
            rows.append({"words": words, "megabytes": told.get() / MEGABYTE})
    show(rows, MEMORY_COLUMNS, title="reading and learning", as_json=given.json)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("corpus", type=Path)
    options.add_argument("--epochs", type=int, default=1)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--floor", type=float, default=0.0, help="of the rate, as a share of it")
    options.add_argument("--device", default="cpu")
    options.add_argument("--memory", action="store_true")
    add_json_option(options)
    given = options.parse_args()
    (measure_memory if given.memory else compare)(given)


if __name__ == "__main__":
    main()
