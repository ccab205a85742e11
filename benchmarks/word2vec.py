"""Word2vec against gensim: words a CPU-second, and what the vectors are worth.

    python benchmarks/word2vec.py corpus.txt --epochs 2 --seeds 3

The corpus is a text in which blanks separate words, such as text8. Both learn skip-gram of the same
vocabulary with the same settings (100 features, window 5, 5 negatives, sample 1e-3) in one thread,
by turns; what is timed is learning alone, in CPU-seconds, so that other work on the machine does
not count. Needs gensim, numba and the tests of `word-similarity` in a folder of NETWRIGHT_DATA.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from gensim.models import Word2Vec as Peer
from reporting import add_json_option, show
from scipy.stats import spearmanr

from netwright.data.files.locations import find_file
from netwright.data.words.word_corpus import WordsConfig, load_words
from netwright.data.words.word_stream import WordStream
from netwright.data.words.word_vectors import WordVectors
from netwright.models.words.word2vec import Word2Vec, Word2VecConfig

SENTENCE = 1000  # words: gensim takes texts in pieces
MOST = 30_000  # words among which the answer of an analogy is looked for
COLUMNS = {
    "who": ("who", ""),
    "seed": ("seed", ""),
    "words a CPU-second": ("rate", ",.0f"),
    "WordSim-353": ("wordsim", ".3f"),
    "analogies": ("analogies", ".3f"),
}


def lines_of(name: str) -> list[str]:
    path = find_file("word-similarity", name)
    if path is None:
        raise SystemExit(f"word-similarity/{name} is in no folder of NETWRIGHT_DATA")
    text = path.read_text(encoding="utf-8").lower()
    return [line for line in text.splitlines() if line.strip() and line[0] not in "#:"]


def wordsim(vectors: WordVectors) -> float:
    """Spearman's correlation of cosines with what people said, of pairs whose words are known."""
    pairs = [line.split("\t") for line in lines_of("wordsim353.tsv")]
    known = [pair for pair in pairs if {*pair[:2]} <= vectors.places.keys()]
    rows = [[vectors.places[word] for word in pair[:2]] for pair in known]
    cosines = [float(vectors.units[a] @ vectors.units[b]) for a, b in rows]
    return float(spearmanr(cosines, [float(pair[2]) for pair in known]).statistic)


def analogies(vectors: WordVectors) -> float:
    """The share of analogies that are answered rightly, among the most common words."""
    few = {word: row for word, row in vectors.places.items() if row < MOST}
    questions = [line.split() for line in lines_of("questions-words.txt")]
    rows = np.array([[few[w] for w in one] for one in questions if {*one} <= few.keys()])
    units, right = vectors.units[:MOST], 0
    for part in np.array_split(rows, max(1, len(rows) // 500)):
        scores = (units[part[:, 1]] - units[part[:, 0]] + units[part[:, 2]]) @ units.T
        np.put_along_axis(scores, part[:, :3], -np.inf, axis=1)
        right += int((scores.argmax(axis=1) == part[:, 3]).sum())
    return right / len(rows)


def ours(stream: WordStream, model: Word2Vec, seed: int) -> tuple[float, np.ndarray]:
    if not model.is_compiled:
        raise SystemExit("numba is not installed: pip install 'netwright[fast]'")
    warm = WordStream(np.array(stream.words[:SENTENCE]), SENTENCE)
    next(Word2Vec.build(model.how, model.spec).fit_steps(warm, 0))  # compiles
    started = time.process_time()
    for _ in model.fit_steps(stream, seed):
        pass
    return time.process_time() - started, model.vectors.numpy()[4:]


def theirs(words: list[list[str]], tokens: tuple[str, ...], epochs: int, seed: int):  # type: ignore[no-untyped-def]
    peer = Peer(vector_size=100, window=5, negative=5, sg=1, min_count=1, sample=1e-3, seed=seed,
                workers=1, epochs=epochs)  # fmt: skip
    peer.build_vocab(words)
    started = time.process_time()
    peer.train(words, total_examples=len(words), epochs=epochs)
    seconds = time.process_time() - started
    return seconds, np.stack([peer.wv[token] for token in tokens])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("corpus", type=Path)
    options.add_argument("--epochs", type=int, default=2)
    options.add_argument("--seeds", type=int, default=3)
    add_json_option(options)
    given = options.parse_args()
    data = load_words(WordsConfig(path=str(given.corpus), split_at="spaces"))
    stream, tokens = data.train, data.preprocessor.tokenizer.tokens
    known = stream.words[stream.words >= 4]
    texts = [
        [tokens[word] for word in known[begin : begin + SENTENCE]]
        for begin in range(0, len(known), SENTENCE)
    ]
    config = Word2VecConfig(epochs=given.epochs, version="compiled")
    rows = []
    for seed in range(given.seeds):
        for who in ("netwright", "gensim"):
            seconds, vectors = (
                ours(stream, Word2Vec.build(config, data.spec), seed)
                if who == "netwright"
                else theirs(texts, tokens[4:], given.epochs, seed + 1)
            )
            found = WordVectors(words=tokens[4:], vectors=vectors)
            rows.append(
                {
                    "who": who,
                    "seed": seed,
                    "rate": given.epochs * len(known) / seconds,
                    "wordsim": wordsim(found),
                    "analogies": analogies(found),
                }
            )
    show(rows, COLUMNS, title=f"{len(known):,} words, {given.epochs} epochs", as_json=given.json)


if __name__ == "__main__":
    main()
