"""What commands and systems share: how a command is declared and run, and how results are written.

`hls_model` builds on its parts that need the standard library alone: `actions`, `files`, `figures`, `stopping` and
`streams`.
"""
