"""The pipeline as C++ for high-level synthesis: its source, projects for vendors' tools, and their reports."""
