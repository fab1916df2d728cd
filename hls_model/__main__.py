"""`python -m hls_model`."""

from oclgenomics.app import stopping


def program() -> int:
    """Run the command line in this process."""
    stopping.exit_on_signals("hls_model")
    from oclgenomics.app.streams import prepare_streams

    prepare_streams()
    from hls_model.cli import main

    return main()


if __name__ == "__main__":
    raise SystemExit(program())
