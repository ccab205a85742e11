"""Views of saved runs: what each shows, on which runs it is there, and what it refuses."""
