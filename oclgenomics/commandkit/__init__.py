"""What a well-behaved command needs, of the standard library alone.

The options of the command that was chosen (`actions`) and the files that they name (`files`), plain JSON
(`plain_json`), standard streams that may be closed, full or a terminal (`streams`), signals that end a command in order
(`stopping`), and a start and an end without detours (`algebra_threads`, `leaving`). Both `oclgenomics` and `hls_model`
build on it, and it knows neither.
"""
