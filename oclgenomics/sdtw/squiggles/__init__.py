"""Expected signals of references: made from sequences, kept in files."""
