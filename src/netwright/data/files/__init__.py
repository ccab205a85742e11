"""Where data files lie, and how their bytes are fetched, unpacked and decoded."""
