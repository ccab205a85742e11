"""The server: trained runs that answer over HTTP; whatever it says, `netwright predict` says."""
