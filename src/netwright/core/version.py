"""The version of netwright: the build reads it here too, so it needs no installed metadata."""

VERSION = "0.1.0"
