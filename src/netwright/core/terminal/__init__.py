"""What reaches the terminal and what comes from it: text, streams, signals."""
