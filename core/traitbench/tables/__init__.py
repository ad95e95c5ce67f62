"""Tables read from files and written to files."""
