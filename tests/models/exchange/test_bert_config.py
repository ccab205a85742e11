"""A BERT's config.json: the sizes of the weights themselves, [MASK] among the tokens."""

from dataclasses import replace

from netwright.models.exchange.bert_config import differs_from_bert, to_bert_config
from netwright.models.exchange.bert_weights import from_bert, to_bert
from netwright.models.transformers.bert import BERT, BERTConfig
from tests.models.transformers.test_bert import MASKED, TAGS

CONFIG = BERTConfig(layers=1, heads=2, width=8, context=16, dropout=0.25)


def test_sizes_are_those_of_the_weights() -> None:
    for spec in (MASKED, TAGS):
        model = BERT.build(CONFIG, spec)
        told = to_bert_config(model)
        assert told["vocab_size"] == len(model.wte.weight)
        assert (told["hidden_size"], told["intermediate_size"]) == (8, 32)
        assert (told["num_hidden_layers"], told["num_attention_heads"]) == (1, 2)
        assert (told["max_position_embeddings"], told["type_vocab_size"]) == (16, 2)
        assert told["hidden_dropout_prob"] == told["attention_probs_dropout_prob"] == 0.25
        assert told["layer_norm_eps"] == CONFIG.norm_eps


def test_the_head_of_spans_has_a_name_of_its_own_there() -> None:
    spec = replace(TAGS, target="span", num_outputs=2, class_names=())
    weights = BERT.build(CONFIG, spec).state_dict()
    theirs = to_bert(weights, marks_spans=True)
    assert {"qa_outputs.weight", "qa_outputs.bias"} <= theirs.keys()
    assert not any(name.startswith("classifier") for name in theirs)
    assert from_bert(theirs).keys() == weights.keys()


def test_settings_that_bert_has_not_are_told() -> None:
    assert not differs_from_bert(CONFIG)
    alibi, window = replace(CONFIG, positions="alibi"), replace(CONFIG, attention="window")
    assert differs_from_bert(alibi) == "positions are alibi, those of BERT are learned"
    assert differs_from_bert(window) == "attention is window, that of BERT is full"
