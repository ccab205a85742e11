"""What is said of cells and rows that may be something else than they are read as."""
