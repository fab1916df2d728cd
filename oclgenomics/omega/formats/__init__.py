"""Reports as text, written and read back."""
