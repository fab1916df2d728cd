"""The pipeline in Verilog, its bench, and what it measured: the ground truth of the model's timing and arithmetic."""
