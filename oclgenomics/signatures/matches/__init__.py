"""What is done with matches once they are found: joining of blocks, certainty, totals."""
