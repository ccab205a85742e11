"""What is measured while a model trains: losses, layers, and what ails a run."""
