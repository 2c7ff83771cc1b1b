"""What a shell offers after `kip848-proxy` and Tab, printed from the command line's own description, so never stale.

source <(kip848-proxy completions bash)                                  # in ~/.bashrc
kip848-proxy completions zsh > "${fpath[1]}/_kip848-proxy"               # once, for zsh
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

SHELLS = ("bash", "zsh")

Commands = Mapping[str, argparse.ArgumentParser]


def completions(parser: argparse.ArgumentParser, shell: str) -> str:
    name = parser.prog
    subparsers = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    if shell == "zsh":
        helps = {action.dest: action.help or "" for action in subparsers._choices_actions}
        return _zsh(name, subparsers.choices, helps)
    return _bash(name, subparsers.choices)


def _options(command: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    return (action for action in command._actions if action.option_strings)


def _values(action: argparse.Action) -> list[str]:
    """The words an option or an argument may have, where they are few: `text|json`."""
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    return action.metavar.split("|") if isinstance(action.metavar, str) and "|" in action.metavar else []


def _is_file(action: argparse.Action) -> bool:
    return isinstance(action.metavar, str) and action.metavar.startswith("FILE")


# --- bash ----------------------------------------------------------------------------------------------------------

BASH = """\
{function}() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=
    if [[ $COMP_CWORD == 1 ]]; then
        words="{commands}"
    else
        case ${{COMP_WORDS[COMP_CWORD - 1]}} in
{after_options}
        *)
            case ${{COMP_WORDS[1]}} in
{by_command}
            esac
            ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -F {function} {name}
"""


def _bash(name: str, commands: Commands) -> str:
    options = {action.option_strings[-1]: action for each in commands.values() for action in _options(each)}
    valued = {option: action for option, action in options.items() if action.nargs != 0}
    return BASH.format(
        function="_" + name.replace("-", "_"),
        name=name,
        commands=" ".join(commands),
        after_options="\n".join(f"        {option}) {_bash_value(action)} ;;" for option, action in valued.items()),
        by_command="\n".join(f'            {each}) words="{_bash_words(commands[each])}" ;;' for each in commands),
    )


def _bash_value(action: argparse.Action) -> str:
    if _is_file(action):
        return 'COMPREPLY=($(compgen -f -- "$word")); return'
    return f'words="{" ".join(_values(action))}"'


def _bash_words(command: argparse.ArgumentParser) -> str:
    return " ".join(word for action in command._actions for word in (action.option_strings[-1:] or _values(action)))


# --- zsh -----------------------------------------------------------------------------------------------------------

ZSH = """\
#compdef {name}
local -a commands
commands=(
{commands}
)
if (( CURRENT == 2 )); then
    _describe command commands
    return
fi
case $words[2] in
{by_command}
esac
"""


def _zsh(name: str, commands: Commands, helps: Mapping[str, str]) -> str:
    return ZSH.format(
        name=name,
        commands="\n".join("    " + _quoted(f"{each}:{helps.get(each, '')}") for each in commands),
        by_command="\n".join(_zsh_case(each, command) for each, command in commands.items()),
    )


def _zsh_case(name: str, command: argparse.ArgumentParser) -> str:
    specs = [_quoted(_zsh_spec(action)) for action in command._actions]
    # The command itself is the first word for _arguments.
    return f"{name})\n    shift words; (( CURRENT-- ))\n    _arguments {' '.join(specs)}\n    ;;"


def _zsh_spec(action: argparse.Action) -> str:
    """`--log-level[what it is for]:what follows:(debug info)`, as _arguments reads it."""
    what = _escaped(str(action.metavar or action.dest))
    offered = "_files" if _is_file(action) else f"({' '.join(_values(action))})" if _values(action) else " "
    follows = f":{what}:{offered}"
    if not action.option_strings:
        return follows
    again = "*" if isinstance(action, argparse._AppendAction) else ""
    return f"{again}{action.option_strings[-1]}[{_escaped(action.help or '')}]{follows if action.nargs != 0 else ''}"


def _escaped(text: str) -> str:
    return "".join(f"\\{each}" if each in "[]:\\" else each for each in text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
