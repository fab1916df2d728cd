"""The process of the `oclgenomics` command, which `python -m oclgenomics` is, too."""

from oclgenomics.app import stopping


def program() -> int:
    """Run the command line in this process, which ends with what is returned."""
    stopping.collect_seldom()
    stopping.without_algebra_threads()
    stopping.leave_at_once()
    stopping.exit_on_signals("oclgenomics")  # before anything that takes time to import
    from oclgenomics.app.streams import prepare_streams

    prepare_streams()
    from oclgenomics.cli.main import main

    return stopping.leaves_with(main())


if __name__ == "__main__":
    raise SystemExit(program())
