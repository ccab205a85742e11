"""Files that a stranger hands over, each tried in a process of its own beside a canary folder."""
