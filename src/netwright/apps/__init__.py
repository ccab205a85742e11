"""The doors: the command line, and later the studio and the server. No logic lives here."""
