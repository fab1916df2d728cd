"""What a well-behaved command needs, of the standard library alone.

Files that are there whole or not at all (`whole`), options that say what they read and write (`files`), standard
streams that may be closed, full or a terminal (`streams`), and signals that end a command in order (`stopping`). Both
`oclgenomics` and `hls_model` build on it, and it knows neither.
"""
