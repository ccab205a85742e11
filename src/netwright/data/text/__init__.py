"""Text as data: tokenizers, corpora, tables with a text column, tagged and paired sentences."""
