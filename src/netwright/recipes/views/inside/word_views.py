"""The views of word vectors: neighbours, neighbours by epoch, a map, and single features."""

from typing import cast

from netwright.core.config import NoSettings
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.tokenizer import SPECIALS
from netwright.inspection.drawing.view import View
from netwright.inspection.inside.embedding_map import measure_embedding_map
from netwright.inspection.inside.word_tables import (
    measure_similar_words,
    measure_vector_dimensions,
    tabulate_words_by_epoch,
)
from netwright.models.words.followed_words import noted_epochs
from netwright.models.words.word2vec import Word2Vec
from netwright.recipes.views.entry import ViewEntry, report_card
from netwright.recipes.views.subject import Subject

ON_MAP = 200  # words, the most common but for the first of all
FIRST = len(SPECIALS)


def _refusal(subject: Subject) -> str:
    if isinstance(subject.run.model, Word2Vec) and len(_names(subject)) > 2:
        return ""
    return f"word vectors are those of word2vec, {subject.name} has none to show"


def _refusal_by_epoch(subject: Subject) -> str:
    if not _refusal(subject) and _noted(subject):
        return ""
    return _refusal(subject) or "no epoch was finished"


def _names(subject: Subject) -> list[str]:
    preprocessor = subject.run.preprocessor
    if not isinstance(preprocessor, TextEncoder):
        return []
    return list(preprocessor.tokenizer.tokens[FIRST:])


def _word2vec(subject: Subject) -> Word2Vec:
    return cast(Word2Vec, subject.run.model)  # another model is refused


def _followed(model: Word2Vec) -> list[int]:
    """The words that were followed, each once."""
    return [token for token in dict.fromkeys(model.followed.tolist()) if token >= FIRST]


def _noted(subject: Subject) -> list[int]:
    """The places of the epochs whose neighbours were noted."""
    nearest = _word2vec(subject).nearest
    return [place for place in range(len(nearest)) if bool(nearest[place].any())]


def _similar(subject: Subject, _: NoSettings) -> View:
    model = _word2vec(subject)
    shown = [token - FIRST for token in _followed(model)]
    return measure_similar_words(model.vectors[FIRST:], _names(subject), shown)


def _by_epoch(subject: Subject, _: NoSettings) -> View:
    model, names, noted = _word2vec(subject), _names(subject), _noted(subject)
    followed = _followed(model)
    columns = [model.followed.tolist().index(token) for token in followed]
    epochs = noted_epochs(model.how.epochs)
    nearest = [
        [[names[token - FIRST] for token in model.nearest[place, column]] for column in columns]
        for place in noted
    ]
    words = [names[token - FIRST] for token in followed]
    return tabulate_words_by_epoch(words, [epochs[place] for place in noted], nearest)


def _map(subject: Subject, _: NoSettings) -> View:
    model, names = _word2vec(subject), _names(subject)
    first = min(_followed(model), default=FIRST) - FIRST if len(names) > 2 * ON_MAP else 0
    vectors = model.vectors[FIRST:][first : first + ON_MAP].cpu()
    return measure_embedding_map(
        vectors, "the vector of one word", labels=names[first : first + ON_MAP]
    )


def _features(subject: Subject, _: NoSettings) -> View:
    return measure_vector_dimensions(_word2vec(subject).vectors[FIRST:], _names(subject))


SIMILAR_WORDS = ViewEntry(
    card=report_card("Some words of word2vec, and the words nearest to them."),
    measure=_similar,
    refusal=_refusal,
    data="unused",
    section="inside",
    has_examples=True,
    code=(measure_similar_words,),
)
WORDS_BY_EPOCH = ViewEntry(
    card=report_card("Which words were nearest to some after each epoch of word2vec."),
    measure=_by_epoch,
    refusal=_refusal_by_epoch,
    data="unused",
    section="inside",
    has_examples=True,
    code=(tabulate_words_by_epoch,),
)
WORD_MAP = ViewEntry(
    card=report_card("Common words of word2vec on a plane: near ones are used alike."),
    measure=_map,
    refusal=_refusal,
    data="unused",
    section="inside",
    has_examples=True,
    code=(measure_embedding_map,),
)
VECTOR_DIMENSIONS = ViewEntry(
    card=report_card("The words at both ends of single features of word2vec's vectors."),
    measure=_features,
    refusal=_refusal,
    data="unused",
    section="inside",
    has_examples=True,
    code=(measure_vector_dimensions,),
)
