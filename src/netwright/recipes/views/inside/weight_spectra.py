"""The view `weight-spectra` of a run: what its weights hold beside noise; it needs no data."""

from netwright.core.card import Card
from netwright.core.config import NoSettings
from netwright.inspection.inside.weight_spectra import (
    WeightSpectra,
    measure_weight_spectra,
    weight_matrices,
)
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import refuse_without_layers
from netwright.recipes.views.subject import Subject


def _refusal(subject: Subject) -> str:
    reason = refuse_without_layers(subject)
    if reason or weight_matrices(subject.run.model):
        return reason
    return "singular values need matrices, this model's weights are single rows or columns"


def _measure(subject: Subject, _: NoSettings) -> WeightSpectra:
    return measure_weight_spectra(subject.run.model)


WEIGHT_SPECTRA = ViewEntry(
    card=Card(
        sentence="The singular values of every weight matrix beside those of a random one of the "
        "same shape and spread: what stands out was learned.",
        formula=r"s (\sqrt{m} - \sqrt{n}) \le \sigma_i \le s (\sqrt{m} + \sqrt{n}), \quad"
        r" \mathrm{srank}(W) = \|W\|_F^2 / \|W\|_2^2",
        symbols={
            "W": "a weight matrix (n, m); a convolution (O, C, k, k) is read as (O, C k k)",
            "s": "the standard deviation of its entries",
            r"\sigma_i": "singular values; the bounds are those of noise, for large matrices",
            r"\mathrm{srank}": "stable rank: how many directions as strong as the first",
        },
        source="Marchenko and Pastur (1967), Mathematics of the USSR-Sbornik 1, 457-483; Martin "
        "and Mahoney (2021), Journal of Machine Learning Research 22, 1-73",
    ),
    measure=_measure,
    refusal=_refusal,
    data="unused",
)
