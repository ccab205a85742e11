"""The `netwright` command; importing it imports no torch."""
