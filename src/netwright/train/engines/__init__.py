"""How the ranks of a run hold its model, and make one gradient of their parts of a batch."""
