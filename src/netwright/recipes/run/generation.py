"""Text from a language model: a prompt goes on, and its text comes piece by piece.

Shapes: B batch, T tokens, V kinds of token.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from netwright.core.config import parse
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.evaluation import evaluating
from netwright.core.outputs import logits_of
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.data.text.tokenizer import BOS, EOS, PAD, UNK
from netwright.decoding.beam_search import beam_search, check_beams
from netwright.decoding.generate import Read, Step, generate, reads_mask, without_cache
from netwright.decoding.sampling import DecodingConfig

INCOMPLETE = "\ufffd"  # what a decoder shows for the first bytes of a character


@runtime_checkable
class TokenReader(Protocol):
    """A model that remembers what it has read; its `context` is how much of it, None: all."""

    def read(self, tokens: Tensor) -> tuple[Tensor, Any]:
        """Tokens (B, T) -> logits (B, V) of what follows, and the state."""

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """One more token a row (B,): the next logits and state."""


@dataclass(frozen=True, kw_only=True)
class TextGenerator:
    """A language model and its tokenizer.

    A module of one's own that only gives logits of whole texts will do, too: it then reads all
    tokens again for each new one.

    Args:
        model: gives the logits of the next token.
        encoder: of its data.
        watch: is shown all tokens (B, T), or one more a row (B,), before the model reads them; what
            it raises ends the text.
    """

    model: nn.Module
    encoder: CorpusEncoder
    watch: Callable[[Tensor], None] | None = None

    def stream(
        self, prompt: str, config: DecodingConfig, *, beams: int | None = None
    ) -> Iterator[str]:
        """What follows the prompt, each piece as soon as it is text.

        Args:
            prompt: how the text begins.
            config: how tokens are chosen, and when to stop.
            beams: search the likeliest text with so many of them instead, all in one piece.
        """
        if beams is not None:
            check_beams(beams, config.length_penalty)
            return iter([self._best(prompt, config, beams)])
        start = self._start(prompt)
        read, step, context = self._reading()
        chosen = generate(read, step, start.to(device_of(self.model)), config, context=context)
        tokens = (int(token) for token in chosen)
        return pieces(tokens, self.encoder.tokenizer.decode, before=start[0].tolist())

    def complete(self, prompts: Sequence[str], config: DecodingConfig) -> list[str]:
        """What follows each of several prompts, which a model that can is asked together.

        Shorter ones are padded in front, and nothing looks there: with temperature 0 each text is
        the one that follows its prompt alone. Other models are asked one by one.
        """
        if isinstance(prompts, str) or not prompts:
            raise ConfigError("prompts must be a list of texts, at least one")
        starts = [self._start(prompt)[0] for prompt in prompts]
        read, step, context = self._reading()
        if not reads_mask(self._read_of_model()):
            return ["".join(self.stream(prompt, config)) for prompt in prompts]
        longest = max(map(len, starts))
        tokens = torch.stack([pad(one, (longest - len(one), 0), value=PAD) for one in starts])
        counted = torch.arange(longest) >= torch.tensor([[longest - len(one)] for one in starts])
        device = device_of(self.model)
        chosen = generate(
            read,
            step,
            tokens.to(device),
            config,
            context=context,
            attention_mask=counted.to(device),
        )
        rows = torch.stack(list(chosen), dim=1).tolist()
        decode = self.encoder.tokenizer.decode
        return [
            "".join(pieces(_up_to(row, config.stop), decode, before=start.tolist()))
            for row, start in zip(rows, starts, strict=True)
        ]

    def _read_of_model(self) -> Read | None:
        return self.model.read if isinstance(self.model, TokenReader) else None

    def _best(self, prompt: str, config: DecodingConfig, beams: int) -> str:
        start = self._start(prompt)
        read, step, context = self._reading()
        if context is not None:
            _check_room(context, start.shape[1], config.max_tokens)
        logits, state = read(start.to(device_of(self.model)))
        found = beam_search(
            logits,
            state,
            step,
            width=beams,
            max_tokens=config.max_tokens,
            stop=config.stop,
            length_penalty=config.length_penalty,
        )
        tokens = found.tokens[0, 0].tolist()
        return "".join(pieces(tokens, self.encoder.tokenizer.decode, before=start[0].tolist()))

    def _start(self, prompt: str) -> Tensor:
        """The tokens of the prompt (1, T); of an empty one, what comes before a beginning."""
        if not isinstance(prompt, str):
            raise ConfigError(f"a prompt must be a text, got {type(prompt).__name__}")
        if prompt:
            return self.encoder.prompt(prompt)
        newline = self.encoder.tokenizer.encode("\n")
        return torch.tensor([newline if newline and UNK not in newline else [EOS]])

    def _reading(self) -> tuple[Read, Step, int | None]:
        model = self.model
        if isinstance(model, TokenReader) and hasattr(model, "context"):
            context: Any = model.context
            return self._at_rest(model.read), self._at_rest(model.step), context
        read, step = without_cache(lambda tokens: logits_of(model(tokens)))
        return self._at_rest(read), self._at_rest(step), self.encoder.length

    def _at_rest(
        self, call: Callable[..., tuple[Tensor, Any]]
    ) -> Callable[..., tuple[Tensor, Any]]:
        """The call as it is asked: the model evaluates, and of special tokens only EOS is said."""

        def called(tokens: Tensor, *given: Any) -> tuple[Tensor, Any]:
            if self.watch is not None:
                self.watch(tokens)
            with evaluating(self.model):
                logits, state = call(tokens, *given)
                logits = logits.clone()
                logits[:, [PAD, UNK, BOS]] = -torch.inf  # no text has them
                return logits, state

        return called


def build_text_generator(
    model: nn.Module, spec: DataSpec, preprocessor: Preprocessor
) -> TextGenerator:
    """What generates text; a model of anything else is refused."""
    if not isinstance(preprocessor, CorpusEncoder):
        raise ConfigError(
            f"generation needs a language model, this run takes {spec.inputs} and predicts "
            f"{spec.target}"
        )
    return TextGenerator(model=model, encoder=preprocessor)


def decoding_config(settings: Mapping[str, Any]) -> DecodingConfig:
    """How tokens are chosen by these settings; where nothing else is said, <eos> ends a text."""
    return parse(DecodingConfig, {"stop": EOS, **settings})


def _up_to(tokens: list[int], stop: int | None) -> list[int]:
    """The tokens of a text, its stop token the last."""
    return tokens[: tokens.index(stop) + 1] if stop is not None and stop in tokens else tokens


def _check_room(context: int, prompt: int, max_tokens: int) -> None:
    """Refuse beams that would be longer than what the model can look back on."""
    beginning = f"beam search cannot exceed the {context} tokens of the model's context"
    if prompt > context:
        raise ConfigError(f"{beginning}: the prompt has {prompt}")
    most = context - prompt + 1
    if max_tokens > most:
        raise ConfigError(
            f"{beginning}: the prompt has {prompt}, max_tokens must be at most {most}, "
            f"got {max_tokens}"
        )


def pieces(
    tokens: Iterable[int], decode: Callable[[Sequence[int]], str], before: Sequence[int] = ()
) -> Iterator[str]:
    """The text of tokens, each piece as soon as its characters are whole.

    A token is decoded beside those before it: alone it may lack its space, or be part of a
    character.

    Args:
        tokens: as they come.
        decode: tokens -> text.
        before: what the text goes on from.
    """
    known, pending = list(before), list[int]()
    for token in tokens:
        pending.append(token)
        text = decode(known + pending)
        if not text.endswith(INCOMPLETE):
            yield text[len(decode(known)) :]
            known, pending = pending, []
    if pending:
        yield decode(known + pending)[len(decode(known)) :]
