"""The k-mer database: its layout, its writer and its reader."""
