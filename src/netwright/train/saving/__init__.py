"""What is saved of a run in training: checkpoints, snapshots, and whether they fit."""
