"""Commands that answer over HTTP until they are ended."""
