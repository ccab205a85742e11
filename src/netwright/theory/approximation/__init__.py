"""Claims on what networks can approximate, and how many pieces they have."""
