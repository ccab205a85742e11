"""Claims on recurrent networks and models of text."""
