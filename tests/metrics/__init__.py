"""The tests of the metrics; a package, so that files here may share names with other rooms'."""
