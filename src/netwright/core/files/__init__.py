"""Files that are whole or absent, read and written through no link."""
