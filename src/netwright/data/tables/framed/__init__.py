"""What stands in the columns of frames: the text of a value, and categories that are numbers."""
