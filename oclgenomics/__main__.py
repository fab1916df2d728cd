"""The process of the `oclgenomics` command, which `python -m oclgenomics` is, too."""

from oclgenomics.commandkit import stopping


def program() -> int:
    """Run the command line in this process."""
    stopping.exit_on_signals("oclgenomics")  # before anything that takes time to import
    from oclgenomics.commandkit.streams import prepare_streams

    prepare_streams()
    from oclgenomics.cli.main import main

    return main()


if __name__ == "__main__":
    raise SystemExit(program())
