"""A run on disk: the files of its folder, checked, opened, resumed and started from."""
