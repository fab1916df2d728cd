"""The model's figures; Matplotlib is imported when one is drawn."""
