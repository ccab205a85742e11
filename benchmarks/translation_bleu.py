"""BLEU of a run that translates, on the test pairs that its data was published with.

    python benchmarks/translation_bleu.py runs/multi30k-transformer --beams 5

Sources of the test split are translated by beam search and compared with their targets by
sacrebleu, whose signature is printed: a BLEU without one cannot be compared. Where the run reads
lower-cased text its references are lower-cased too, and the line says so.

Source: Post, "A Call for Clarity in Reporting BLEU Scores" (2018).
"""

import argparse
import time

from environment import enter_bench_environment

import netwright as nw
from netwright.data.text.multi30k import SOURCE, Multi30kConfig, load_parts
from netwright.data.text.pair_encoder import PairEncoder
from netwright.recipes.run.translation import translate


def main() -> None:
    """Translate, score, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", help="the folder of a run on multi30k")
    parser.add_argument("--beams", type=int, default=5)
    parser.add_argument("--length-penalty", type=float, default=1.0)
    given = parser.parse_args()
    enter_bench_environment()
    import sacrebleu

    run = nw.open_run(given.run)
    recipe, encoder = nw.load_recipe(given.run), run.preprocessor
    config = recipe.data_settings
    if not isinstance(config, Multi30kConfig) or not isinstance(encoder, PairEncoder):
        raise SystemExit(f"wanted a run on multi30k ({SOURCE.sentence}), got one on {recipe.data}")
    test = load_parts(config)["test"]
    sources, wanted = test.column(config.source), test.column(config.target)
    started = time.perf_counter()
    said = translate(run, sources, beams=given.beams, length_penalty=given.length_penalty)
    seconds = time.perf_counter() - started
    metric = sacrebleu.metrics.BLEU(lowercase=encoder.target.lower)
    score = metric.corpus_score(list(said), [wanted])
    case = "lower-cased" if encoder.target.lower else "cased"
    print(f"BLEU {score.score:.2f} on {len(said)} test pairs, {case}, {given.beams} beams")
    print(f"{score}  {metric.get_signature()}  {seconds:.1f} s")
    for source, target in list(zip(sources, said, strict=True))[:3]:
        print(f"  {source}\n    {target}")


if __name__ == "__main__":
    main()
