"""What a k-mer database is: k-mers as numbers and in sets, the layout of the file, and its sections as bytes."""
