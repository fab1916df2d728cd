"""Reports of the vendor's tools, read and put beside the model's numbers."""
