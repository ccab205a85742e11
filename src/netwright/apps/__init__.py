"""The doors: the command line and the server, later the studio. No logic lives here."""
