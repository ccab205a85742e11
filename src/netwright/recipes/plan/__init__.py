"""What is trained, before it is: the recipe, its file, its data and its regularizers."""
