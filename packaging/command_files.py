"""Write the tab completion for bash, zsh and fish, and the man pages, from the parsers of the commands.

    python packaging/command_files.py

They go to packaging/share, which the wheel installs. tests/test_command_files.py fails where they are not those of the
parsers.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from oclgenomics.app.files import role_of
from oclgenomics.cli.main import COMMANDS, _parser

SHARE = Path(__file__).resolve().parent / "share"


@dataclass(frozen=True)
class Command:
    """A command and its action, if it has any, as they are typed; what the help says of it; its parser."""

    words: tuple[str, ...]
    help: str
    parser: argparse.ArgumentParser

    @property
    def options(self) -> list[argparse.Action]:
        """Its options that helps show."""
        return [one for one in self.parser._actions if one.option_strings and one.help != argparse.SUPPRESS]

    @property
    def arguments(self) -> list[argparse.Action]:
        """Its arguments without options."""
        return [one for one in self.parser._actions if not one.option_strings]

    def help_of(self, action: argparse.Action) -> str:
        """What helps say of an option, on one line."""
        return " ".join(self.parser._get_formatter()._expand_help(action).split()) if action.help else ""

    def short_help_of(self, action: argparse.Action) -> str:
        """What a menu shows of that: its first clause."""
        return re.split(r"[;:] | \(default", self.help_of(action))[0]

    def values_of(self, action: argparse.Action) -> str:
        """What helps show for the values of an option."""
        formatter = self.parser._get_formatter()
        name = action.dest.upper() if action.option_strings else action.dest
        return "" if action.nargs == 0 else formatter._format_args(action, name)


def commands() -> Iterator[Command]:
    """List what can be typed: each command without actions, and each action."""
    choices = _subcommands(_parser()).choices
    for name, text in sorted(COMMANDS.items()):
        parser = choices[name]
        if any(isinstance(one, argparse._SubParsersAction) for one in parser._actions):
            actions = _subcommands(parser)
            texts = {one.dest: one.help or "" for one in actions._get_subactions()}
            for action in actions.choices:
                yield Command((name, action), texts.get(action, ""), actions.choices[action])
        else:
            yield Command((name,), text, parser)


def _subcommands(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser]:
    return next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction))


def names_files(action: argparse.Action) -> bool:
    """Whether file names are what completes an option or an argument."""
    return role_of(action) is not None


def files() -> dict[str, str]:
    """Return what belongs into packaging/share: names and texts."""
    known = list(commands())
    found = {
        "bash-completion/completions/oclgenomics": bash(known),
        "zsh/site-functions/_oclgenomics": zsh(known),
        "fish/vendor_completions.d/oclgenomics.fish": fish(known),
        "man/man1/oclgenomics.1": main_page(),
    }
    for name, text in COMMANDS.items():
        page = command_page(name, text, [one for one in known if one.words[0] == name])
        found[f"man/man1/oclgenomics-{name}.1"] = page
    return found


# bash

BASH = """\
# Tab completion of oclgenomics for bash; made by packaging/command_files.py

_oclgenomics() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local command="${COMP_WORDS[1]}" options="" valued="" filed="" choices="" actions=""
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@ --help --version" -- "$current")
        return
    fi
    case $command in
@ACTIONS@
    esac
    if [[ -n $actions ]]; then
        if [[ $COMP_CWORD -eq 2 ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$actions --help" -- "$current")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    case $command in
@OPTIONS@
    esac
    case "$command $previous" in
@CHOICES@
    esac
    if [[ -n $choices ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
    elif [[ " $filed " == *" $previous "* ]]; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    elif [[ " $valued " == *" $previous "* ]]; then
        return
    elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}
complete -F _oclgenomics oclgenomics
"""


def bash(known: list[Command]) -> str:
    """Return the completion for bash."""
    actions = "\n".join(f'        {name}) actions="{" ".join(found)}" ;;' for name, found in _actions(known).items())
    options, choices = [], []
    for one in known:
        strings = " ".join(string for option in one.options for string in option.option_strings)
        valued = _strings(one, lambda option: option.nargs != 0 and not names_files(option))
        filed = _strings(one, names_files)
        head = f'        "{" ".join(one.words)}")'
        options.append(f'{head}\n            options="{strings}"\n            valued="{valued}" filed="{filed}" ;;')
        for option in one.options:
            if option.choices:
                cases = "|".join(f'"{" ".join(one.words)} {string}"' for string in option.option_strings)
                choices.append(f'        {cases}) choices="{" ".join(map(str, option.choices))}" ;;')
    text = BASH.replace("@COMMANDS@", " ".join(sorted(COMMANDS))).replace("@ACTIONS@", actions)
    return text.replace("@OPTIONS@", "\n".join(options)).replace("@CHOICES@", "\n".join(choices))


def _actions(known: list[Command]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in known:
        if len(one.words) == 2:
            found.setdefault(one.words[0], []).append(one.words[1])
    return found


def _strings(command: Command, wanted: Callable[[argparse.Action], bool]) -> str:
    return " ".join(string for one in command.options if wanted(one) for string in one.option_strings)


# zsh

ZSH = """\
#compdef oclgenomics
# Tab completion of oclgenomics for zsh; made by packaging/command_files.py

_oclgenomics() {
    local -a entries
    if (( CURRENT == 2 )); then
        entries=(@COMMANDS@)
        _describe command entries
        return
    fi
    local command=$words[2]
    if (( CURRENT == 3 )); then
        case $command in
@ACTIONS@
        esac
        if (( $#entries )); then
            _describe action entries
            return
        fi
    fi
    case $command in
        @SYSTEMS@) command+=" $words[3]"; shift 2 words; (( CURRENT -= 2 )) ;;
        *) shift words; (( CURRENT -= 1 )) ;;
    esac
    case $command in
@OPTIONS@
    esac
}

_oclgenomics "$@"
"""


def zsh(known: list[Command]) -> str:
    """Return the completion for zsh."""
    entries = {name: [one for one in known if one.words[0] == name and len(one.words) == 2] for name in COMMANDS}
    actions = [
        f"            {name}) entries=({_described([(one.words[1], one.help) for one in found])}) ;;"
        for name, found in sorted(entries.items())
        if found
    ]
    options = []
    for one in known:
        specs = [spec for option in one.options for spec in _zsh_specs(one, option)]
        lines = " \\\n".join(f"                {shlex.quote(spec)}" for spec in [*specs, "*:file:_files"])
        options.append(f'        "{" ".join(one.words)}")\n            _arguments -s \\\n{lines} ;;')
    text = ZSH.replace("@COMMANDS@", _described(sorted(COMMANDS.items()))).replace("@ACTIONS@", "\n".join(actions))
    return text.replace("@SYSTEMS@", "|".join(sorted(_actions(known)))).replace("@OPTIONS@", "\n".join(options))


def _described(pairs: list[tuple[str, str]]) -> str:
    return " ".join(shlex.quote(f"{name}:{text}") for name, text in pairs)


def _zsh_specs(command: Command, option: argparse.Action) -> Iterator[str]:
    text = re.sub(r"([\[\]:\\])", r"\\\1", command.short_help_of(option))
    if option.nargs == 0:
        values = ""
    else:
        what = f"({' '.join(map(str, option.choices))})" if option.choices else "_files" if names_files(option) else " "
        colons = "::" if option.nargs == "?" else ":"
        values = f"{colons}{option.dest}:{what}" * (option.nargs if isinstance(option.nargs, int) else 1)
    for string in option.option_strings:
        yield f"*{string}[{text}]{values}"


# fish

FISH = """\
# Tab completion of oclgenomics for fish; made by packaging/command_files.py

function __oclgenomics_at
    set -l words (commandline -opc)
    test (count $words) -gt (count $argv); or return 1
    for i in (seq (count $argv))
        test $words[(math $i + 1)] = $argv[$i]; or return 1
    end
end

function __oclgenomics_behind
    test (count (commandline -opc)) -eq (math (count $argv) + 1); and __oclgenomics_at $argv
end

complete -c oclgenomics -n 'test (count (commandline -opc)) -eq 1' -f -l help -s h
complete -c oclgenomics -n 'test (count (commandline -opc)) -eq 1' -f -l version
"""


def fish(known: list[Command]) -> str:
    """Return the completion for fish."""
    lines = [_fish_word("test (count (commandline -opc)) -eq 1", *one) for one in sorted(COMMANDS.items())]
    for one in known:
        if len(one.words) == 2:
            lines.append(_fish_word(f"__oclgenomics_behind {one.words[0]}", one.words[1], one.help))
        for option in one.options:
            names = " ".join(
                f"-l {string[2:]}" if string.startswith("--") else f"-{'s' if len(string) == 2 else 'o'} {string[1:]}"
                for string in option.option_strings
            )
            values = "" if option.nargs in (0, "?") else " -r" if names_files(option) else " -x"
            if option.choices:
                values += f" -a {_fish_quoted(' '.join(map(str, option.choices)))}"
            what = _fish_quoted(one.short_help_of(option))
            lines.append(
                f"complete -c oclgenomics -n '__oclgenomics_at {' '.join(one.words)}' {names}{values} -d {what}"
            )
    return FISH + "\n".join(lines) + "\n"


def _fish_word(condition: str, word: str, text: str) -> str:
    return f"complete -c oclgenomics -n '{condition}' -f -a {word} -d {_fish_quoted(text)}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# man


def main_page() -> str:
    """Return the page of the program."""
    parser = _parser()
    entries = "".join(
        f".TP\n.BR oclgenomics\\-{_roff(name)} (1)\n{_roff(text)}\n" for name, text in sorted(COMMANDS.items())
    )
    return (
        f'.TH OCLGENOMICS 1 "" "oclgenomics" "User Commands"\n.SH NAME\noclgenomics \\- genomics on any OpenCL device\n'
        f".SH SYNOPSIS\n.B oclgenomics\n.I COMMAND\n.RI [ OPTION ]...\n.SH DESCRIPTION\n"
        f"{_roff(parser.description or '')}\n.SH COMMANDS\n{entries}"
        ".SH EXIT STATUS\n0 done, 2 usage, 3 bad input, 4 no device or not enough memory, 5 output not written,\n"
        "130 interrupted, 143 terminated, 129 hung up, 1 a defect of the program.\n"
    )


def command_page(name: str, text: str, known: list[Command]) -> str:
    """Return the page of a command with all its actions."""
    parts = [
        f'.TH OCLGENOMICS\\-{name.upper()} 1 "" "oclgenomics" "User Commands"\n',
        f".SH NAME\noclgenomics\\-{name} \\- {_roff(text)}\n.SH SYNOPSIS\n",
        "\n.br\n".join(map(_synopsis, known)) + "\n",
    ]
    for one in known:
        title = "DESCRIPTION" if len(one.words) == 1 else f'"{" ".join(one.words)}"'
        parts.append(f".SH {title}\n{_roff(one.parser.description or one.help)}\n")
        for action in [*one.arguments, *one.options]:
            names = ", ".join(f"\\fB{_roff(string)}\\fR" for string in action.option_strings)
            values = f"\\fI{_roff(one.values_of(action))}\\fR" if one.values_of(action) else ""
            parts.append(f".TP\n{' '.join(filter(None, (names, values)))}\n{_roff(one.help_of(action))}\n")
    return "".join(parts) + ".SH SEE ALSO\n.BR oclgenomics (1)\n"


def _synopsis(command: Command) -> str:
    values = " ".join(command.values_of(one) for one in command.arguments)
    return f".B oclgenomics {_roff(' '.join(command.words))}\n[\\fIOPTION\\fR]... \\fI{_roff(values)}\\fR"


def _roff(text: str) -> str:
    """Return a text as roff shows it as it is, on one line that is no request."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def main() -> None:
    """Write all files."""
    for name, text in files().items():
        path = SHARE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
