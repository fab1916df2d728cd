"""The command line: one module per command, each of which parses, calls and prints."""
