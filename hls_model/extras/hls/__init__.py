"""The pipeline as C++ for high-level synthesis: its source, and projects for vendors' tools."""
