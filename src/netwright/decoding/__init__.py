"""Tokens from logits: greedy, sampled and searched, from anything that gives the next logits."""
