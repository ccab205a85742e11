"""Text for pre-training: framed pairs, masked tokens, and the tokenizer that goes on."""
