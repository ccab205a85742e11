"""Views of the data: its columns, classes, targets and augmentations."""
