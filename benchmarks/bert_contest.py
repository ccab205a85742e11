"""BERT of `transformer_training.py`: masked texts of WikiText-2, BertForPreTraining."""

import torch
from torch import Tensor, nn
from transformer_contest import Contest, Size, Weights, numbered, parted

from netwright.core.seeding import generator
from netwright.data.dataset import Split
from netwright.data.spec import IGNORED, DataSpec
from netwright.data.text.pretraining.framing import segments_of
from netwright.data.text.pretraining.masking import mask_tokens
from netwright.data.text.pretraining.sentence_pairs import pair_sentences
from netwright.data.text.published import ARTICLES, read_published
from netwright.data.text.tokenizer import BOS, EOS
from netwright.models.exchange.bert_weights import to_bert


def pretraining(size: Size, steps: int, device: str) -> Contest:
    """Pairs of segments with masked words."""
    words = read_published("wikitext-2", ARTICLES["train"]).split()
    mask = size.vocabulary - 1
    tokens = numbered([words], mask)
    drawing = generator(0, "texts")
    pairs = pair_sentences(tokens, (size.length - 3) // 2, drawing)
    begin, end = (torch.full((len(pairs.labels), 1), token) for token in (BOS, EOS))
    rows = torch.cat((begin, pairs.first, end, pairs.second, end), dim=1)
    inputs, targets = mask_tokens(rows, mask, drawing)
    targets[:, 0] = pairs.labels
    train, held = parted(Split(inputs=inputs.to(device), targets=targets.to(device)), size, steps)
    return Contest(
        title="bert",
        model="bert",
        size=size,
        spec=DataSpec(
            inputs="masked",
            input_shape=(rows.shape[1],),
            target="tokens",
            num_outputs=size.vocabulary,
            vocab_size=size.vocabulary,
        ),
        train=train,
        held=held,
        peer=transformers_bert,
        yardstick="transformers",
        is_compiled=False,
    )


def transformers_bert(size: Size, first: Weights) -> nn.Module:
    """With our weights by its names."""
    from transformers import BertConfig, BertForPreTraining

    config = BertConfig(
        vocab_size=size.vocabulary,
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=4 * size.width,
        attn_implementation="sdpa",
    )
    network = BertForPreTraining(config)
    network.load_state_dict(to_bert(first))
    return TransformersBert(network)


class TransformersBert(nn.Module):
    """BertForPreTraining, given what ours is given."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        labels = torch.cat((torch.full_like(targets[:, :1], IGNORED), targets[:, 1:]), dim=1)
        return self.network(
            input_ids=inputs,
            token_type_ids=segments_of(inputs),
            labels=labels,
            next_sentence_label=targets[:, 0],
        ).loss
