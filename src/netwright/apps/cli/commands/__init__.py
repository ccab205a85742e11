"""The verbs of the `netwright` command, one file each."""
