"""The forms in which data is handed over, in the order in which they are tried."""

from typing import Any

from netwright.core.errors import ConfigError
from netwright.data.given.arrays import ARRAYS
from netwright.data.given.datasets import DATASET
from netwright.data.given.form import GivenForm
from netwright.data.given.frames import FRAME
from netwright.data.given.hugging_face import HUGGING_FACE
from netwright.data.given.labelled_frames import LABELLED_FRAME
from netwright.data.given.loaders import LOADER
from netwright.data.given.pictures import LABELLED_PICTURES
from netwright.data.given.several_inputs import SEVERAL_INPUTS
from netwright.data.given.streams import STREAM
from netwright.data.given.texts import LABELLED_TEXTS, TEXTS

FORMS = (
    *(LOADER, STREAM, HUGGING_FACE, FRAME, LABELLED_FRAME),
    *(LABELLED_PICTURES, LABELLED_TEXTS, TEXTS),
    *(SEVERAL_INPUTS, ARRAYS, DATASET),
)


def form_of(source: Any) -> GivenForm:
    """The first form that recognises an object; what none does is refused with all of them."""
    for form in FORMS:
        if form.recognises(source):
            return form
    forms = ", ".join(form.name for form in FORMS)
    raise ConfigError(f"data must be a name, a path, Data, {forms}; got {type(source).__name__}")
