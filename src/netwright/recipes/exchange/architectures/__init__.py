"""Our transformers as `transformers` has them: what each becomes there, and what has no place."""
