"""What goes into a database: references, names, taxa, and memory."""
