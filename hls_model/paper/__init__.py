"""The published numbers (`published`), and what the model gives for them (`table1`, `table3`)."""

from hls_model.paper.published import TABLE1 as TABLE1, TABLE3 as TABLE3, Mix as Mix, Rates as Rates, System as System
