"""Models of sequences: recurrent networks, linear recurrences, encoder and decoder."""
