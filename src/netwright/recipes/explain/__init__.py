"""What a named part is: its card, its settings and its code."""
