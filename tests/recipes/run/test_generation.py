"""Text from a run: learned by heart and said again, in whole characters, by any model of tokens."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.data.text.tokenizer import BOS, EOS, PAD, UNK
from netwright.data.text.word_tokenizer import WordTokenizer
from netwright.decoding.sampling import DecodingConfig
from netwright.models.sequence.gru import GRU, GRUConfig
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.recipes.run.generation import TextGenerator, build_text_generator, pieces
from tests.train.toy_runs import toy_data, toy_net

TEXT = "one two three four\nfive six seven eight\n"
ENCODER = CorpusEncoder(tokenizer=CharTokenizer.fit([TEXT]), length=12)
GREEDY = DecodingConfig(temperature=0.0, max_tokens=20)


def untrained(kind: Any = GRU, config: Any = None) -> TextGenerator:
    with seeded(0):
        model = kind(config or GRUConfig(hidden=8, embedding=6), ENCODER.spec)
    return TextGenerator(model=model, encoder=ENCODER)


class NoMemory(nn.Module):
    """A module of one's own: logits of whole texts, and nothing else."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.inner(tokens)
        return logits


@pytest.fixture(scope="module")
def text_run(tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    """A model that knows its text by heart."""
    path = tmp_path_factory.mktemp("text") / "quick.txt"
    path.write_text("the quick\n" * 40, encoding="utf-8")
    data = nw.data.load("text", path=str(path), window=10)
    settings: Any = {"hidden": 16, "dropout": 0.0, "epochs": 10, "batch_size": 8, "lr": 0.05}
    return nw.fit("gru", data, out=None, quiet=True, **settings)


def test_a_run_goes_on_with_what_it_learned(text_run: nw.Run) -> None:
    said = text_run.generate("the q", temperature=0.0, max_tokens=8)
    assert said == "uick\nthe"
    assert text_run.generate("the q", beams=3, max_tokens=8) == said
    assert list(text_run.stream("the q", temperature=0.0, max_tokens=8)) == list(said)
    assert text_run.generate(temperature=0.0, max_tokens=9) == "the quick"


def test_the_seed_decides_what_is_drawn() -> None:
    generator = untrained()
    first, again, other = (
        "".join(generator.stream("one", DecodingConfig(seed=seed, max_tokens=30)))
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_a_module_without_a_memory_says_the_same() -> None:
    config = GPTConfig(layers=1, heads=2, width=8, positions="rotary")
    generator = untrained(GPT, config)
    alone = TextGenerator(model=NoMemory(generator.model), encoder=ENCODER)
    texts = ["".join(each.stream("one two", GREEDY)) for each in (generator, alone)]
    assert texts[0] == texts[1]  # beyond the window of 12


def test_the_model_is_as_it_was_and_at_rest_while_it_speaks() -> None:
    generator = untrained(GRU, GRUConfig(hidden=8, embedding=6, dropout=0.9))
    generator.model.train()
    texts = {"".join(generator.stream("one", GREEDY)) for _ in range(3)}
    assert len(texts) == 1
    assert all(part.training for part in generator.model.modules())


def test_text_ends_where_the_end_is_drawn() -> None:
    class Ends(nn.Module):
        def forward(self, tokens: Tensor) -> Tensor:
            is_last = (tokens == ENCODER.tokenizer.encode("w")[0])[:, :, None]
            following = torch.where(is_last, EOS, tokens[:, :, None] + 1)
            return (torch.arange(ENCODER.tokenizer.size) == following).double() * 99

    said = TextGenerator(model=Ends(), encoder=ENCODER)
    names = "".join(ENCODER.tokenizer.tokens[4:])
    after = names[names.index("t") + 1 : names.index("w") + 1]
    config = DecodingConfig(temperature=0.0, max_tokens=50, stop=EOS)
    assert "".join(said.stream("t", config)) == after


@pytest.mark.parametrize("beams", [None, 2])
def test_special_tokens_are_never_said(beams: int | None) -> None:
    class Special(nn.Module):
        def forward(self, tokens: Tensor) -> Tensor:
            wanted = torch.zeros(*tokens.shape, ENCODER.tokenizer.size)
            wanted[..., [PAD, UNK, BOS]] = 9.0
            wanted[..., ENCODER.tokenizer.encode("x")] = 5.0
            return wanted

    config = DecodingConfig(temperature=0.0, max_tokens=4, stop=EOS)
    said = TextGenerator(model=Special(), encoder=ENCODER).stream("one", config, beams=beams)
    assert "".join(said) == "xxxx"


def test_an_empty_prompt_begins_after_a_newline_or_an_end() -> None:
    read: list[list[int]] = []

    class Listens(nn.Module):
        def forward(self, tokens: Tensor) -> Tensor:
            read.append(tokens[0].tolist())
            return torch.zeros(*tokens.shape, ENCODER.tokenizer.size)

    words = CorpusEncoder(tokenizer=WordTokenizer.fit([TEXT]), length=12)
    for encoder in (ENCODER, words):
        list(TextGenerator(model=Listens(), encoder=encoder).stream("", GREEDY))
    assert read[0] == ENCODER.tokenizer.encode("\n")
    assert read[20] == [EOS]


def test_pieces_are_whole_characters_and_together_the_text() -> None:
    text = "a€b😀"  # 1, 3, 1 and 4 bytes

    def decode(tokens: Any) -> str:
        return bytes(tokens).decode(errors="replace")

    assert list(pieces(text.encode(), decode)) == ["a", "€", "b", "😀"]
    assert list(pieces(text.encode()[:-1], decode)) == ["a", "€", "b", "\ufffd"]


def test_words_keep_their_spaces_from_the_first_piece_on() -> None:
    words = WordTokenizer.fit([TEXT])
    tokens = words.encode("one two three four")
    said = list(pieces(tokens[1:], words.decode, before=tokens[:1]))
    assert said == [" two", " three", " four"]


def test_what_has_no_text_to_go_on_with_is_refused(tmp_path: Path) -> None:
    data = toy_data()
    with pytest.raises(ConfigError) as refusal:
        build_text_generator(toy_net(), data.spec, data.preprocessor)
    assert str(refusal.value) == (
        "generation needs a language model, this run takes features and predicts class"
    )
    generator = untrained(GPT, GPTConfig(layers=1, heads=2, width=8))
    with pytest.raises(ConfigError) as refusal:
        generator.stream("one two", GREEDY, beams=2)
    assert str(refusal.value) == (
        "beam search cannot exceed the 12 tokens of the model's context: the prompt has "
        "7, max_tokens must be at most 6, got 20"
    )
    with pytest.raises(ConfigError) as refusal:
        generator.stream("one two three", GREEDY, beams=2)
    assert str(refusal.value) == (
        "beam search cannot exceed the 12 tokens of the model's context: the prompt has 13"
    )
    assert next(generator.stream("one two", DecodingConfig(max_tokens=6), beams=2))


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary"])
def test_prompts_of_different_lengths_go_on_together_as_each_alone(positions: str) -> None:
    config = GPTConfig(layers=2, heads=2, width=16, context=40, positions=positions)  # type: ignore[arg-type]
    generator = untrained(GPT, config)
    numbers = torch.Generator().manual_seed(1)
    for weight in generator.model.parameters():
        if weight.ndim > 1:
            nn.init.normal_(weight, std=0.5, generator=numbers)
    prompts = ["one two", "o", "three four five", ""]
    for most in (6, 60):  # the second is more than the context holds: it is read anew
        config_of = DecodingConfig(temperature=0.0, max_tokens=most, stop=EOS)
        together = generator.complete(prompts, config_of)
        if most == 6:
            alone = ["".join(generator.stream(prompt, config_of)) for prompt in prompts]
            assert together == alone
            assert len(set(together)) > 1
        assert len(together) == 4


def test_models_that_read_no_mask_go_on_one_by_one(text_run: nw.Run) -> None:
    prompts = ["the q", "qu"]
    alone = [text_run.generate(one, temperature=0.0, max_tokens=5) for one in prompts]
    assert text_run.complete(prompts, temperature=0.0, max_tokens=5) == alone
    with pytest.raises(ConfigError, match="prompts must be a list of texts, at least one"):
        text_run.complete("the q")
    with pytest.raises(ConfigError, match="a prompt must be a text, got int"):
        text_run.complete([3])  # type: ignore[list-item]


def test_a_prompt_is_one_text(text_run: nw.Run) -> None:
    for prompt, kind in ((["The", "A"], "list"), (None, "NoneType")):
        with pytest.raises(ConfigError, match=f"^a prompt must be a text, got {kind}$"):
            text_run.generate(prompt)  # type: ignore[arg-type]  # what is wrong on purpose


def test_beams_are_bounded_and_a_length_penalty_is_theirs(text_run: nw.Run) -> None:
    with pytest.raises(ConfigError, match=r"^beams must be from 1 to 1000, got 1001$"):
        text_run.generate("the q", beams=1001)
    with pytest.raises(ConfigError, match=r"^length_penalty must be a finite number, got nan$"):
        text_run.generate("the q", beams=2, length_penalty=float("nan"))
    assert text_run.generate("the q", beams=2, length_penalty=1.0, max_tokens=4) == "uick"
