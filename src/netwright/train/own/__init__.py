"""What a caller hands over in person beside model and data: it has no name in any table."""
