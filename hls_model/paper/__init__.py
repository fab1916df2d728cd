"""The published numbers (`published`), and what the model gives for them (`table1`, `table3`)."""

from hls_model.paper.published import TABLE1, TABLE3, Mix, Rates, System

__all__ = ["TABLE1", "TABLE3", "Mix", "Rates", "System"]
