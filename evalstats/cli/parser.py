"""Turn command lines into options, metrics, help, or errors of one line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from functools import cache, partial
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any, NoReturn, get_args, get_type_hints

from evalstats.checks import expected, meant
from evalstats.cli.flags import COMMANDS, EVERY, Option, entry, flag_of, folded, options_of
from evalstats.cli.output import complain, to_stdout
from evalstats.compat.smoothing import NAMED as NAMED_SMOOTHING
from evalstats.errors import Argument, InputError
from evalstats.metrics import BLEU, BUILT_IN, NAMED, Metric, written
from evalstats.metrics.bleu import BUNDLED_TOKENIZERS

#: sacreBLEU's options that are not needed here, with hints.
_SACREBLEU = dict.fromkeys(
    ("--paired-bs", "--paired-ar", "-paired-bs", "-paired-ar"),
    "leave it out, because compare tests every pair",
)
#: Words that are not commands, with hints.
_ELSEWHERE = {
    "report": "to write a report, add -o report.html to a command such as compare, rank or gate"
}
#: sacreBLEU's short forms of options.
_SHORT = {
    "tokenize": "-tok",
    "lowercase": "-lc",
    "smooth_method": "-s",
    "smooth_value": "-sv",
    "chrf_char_order": "-cc",
    "chrf_word_order": "-cw",
}
#: sacreBLEU's names, which are slow to get.
TOKENIZERS = (
    *(*BUNDLED_TOKENIZERS, "ja-mecab", "ko-mecab"),
    *("spm", "flores101", "flores200", "spBLEU-1K"),
)
#: Help for options of metrics.
_METRIC_HELP = {
    "lowercase": "lowercase the texts for BLEU",
    "tokenize": f"BLEU tokeniser: {', '.join(TOKENIZERS)}".replace("13a", "13a (default)"),
    "smooth_method": "BLEU smoothing if no n-gram of a length matches (default: exp)",
    "smooth_value": "value for BLEU smoothing with floor (default: 0.1) or add-k (default: 1)",
    "max_ngram_order": "length of the longest BLEU n-grams (default: 4)",
    "effective_order": "ignore BLEU n-grams that are longer than the output",
    "trg_lang": "target language, which chooses the BLEU tokeniser for zh, ja and ko",
    "chrf_char_order": "length of the longest character n-grams in chrF (default: 6)",
    "chrf_word_order": "length of the longest word n-grams in chrF (default: 0; chrF++: 2)",
    "chrf_beta": "weight of recall in chrF, relative to precision (default: 2)",
    "chrf_lowercase": "lowercase the texts for chrF",
    "chrf_whitespace": "keep whitespace as characters in chrF",
    "chrf_eps_smoothing": "average the F-scores of all n-gram lengths in chrF, as NLTK does",
    "ter_normalized": "split off punctuation, and replace XML entities, for TER",
    "ter_no_punct": "remove punctuation for TER",
    "ter_asian_support": "split Chinese and Japanese text into characters for TER (with "
    "--ter-normalized), or remove its punctuation (with --ter-no-punct)",
    "ter_case_sensitive": "distinguish upper and lower case in TER",
    "wer_lowercase": "lowercase the texts for WER",
    "cer_lowercase": "lowercase the texts for CER",
    "rouge_stemmer": "replace English words with their stems for ROUGE",
    "rouge_measure": "measure that ROUGE averages over segments (default: fmeasure)",
}
_KINDS: list[type[Any]] = [kind for kind in BUILT_IN if kind.reads_text]
#: Fields of text metrics by sacreBLEU's names of options, without a prefix for BLEU. Options that
#: the metric's name sets are left out.
METRIC_OPTIONS: dict[Any, dict[str, Any]] = {
    kind: {
        f"{'' if kind is BLEU else f'{kind.__name__.lower()}_'}{field.name}": field
        for field in fields(kind)
        if not field.metadata.get("by_name")
    }
    for kind in _KINDS
}
#: Marks a name that begins with a dash; never part of a command line.
_NAME = "\0"


class Percent(float):
    """A share typed as a percentage, 0.05 for ``5%``."""


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command, and its name as `command`; help and errors exit."""
    command, *rest = arguments
    if command not in COMMANDS:
        hint = _ELSEWHERE.get(command) or meant(command, list(COMMANDS))
        _Parser("", []).error(f"there is no command {command!r}; {hint}")
    headings = options_of(command)
    if any("-i" in option.flags for option in headings.get("input", [])):
        headings["input"] += metric_options(command)
    options = [option for entries in headings.values() for option in entries]
    parser = _Parser(command, options)
    # Options of other commands are None.
    nothing = argparse.Namespace(**dict.fromkeys(option.name for option in EVERY))
    typed = parser.parse_args(list(_marked(rest, options)), nothing)
    if typed.groups:
        _take_groups(typed)
        if isinstance(typed.groups, list) and len(typed.groups) > 2:
            parser.error(f"--groups accepts one or two labels, got {' '.join(typed.groups)}")
    # A word that is not a file, after the value of an option, is an error.
    for stray in typed.logs or () if typed.input else ():
        at = rest.index(stray)
        flag, value = rest[at - 2 : at] if at >= 2 and not Path(stray).exists() else ("", "")
        if any(flag in x.flags and x.value and not x.value.endswith("...") for x in options):
            parser.error(f"{flag} accepts a single value, got {value} {stray}")
    if typed.help or typed.help_all:
        to_stdout(_help(command, headings, typed.help_all))
        raise SystemExit(0)
    return typed


def _take_groups(typed: argparse.Namespace) -> None:
    """Separate logs after ``--groups`` from labels, if there is no other input."""
    if not typed.logs and not typed.input:
        of_logs = (i for i, word in enumerate(typed.groups) if i and Path(word).exists())
        first = next(of_logs, 1)
        typed.groups, typed.logs = typed.groups[:first], typed.groups[first:]
    if len(typed.groups) == 1:
        (typed.groups,) = typed.groups


def _marked(words: Iterable[str], options: Sequence[Option]) -> Iterator[str]:
    """Yield words, with marks on names such as -drop, so that they are not taken for options.

    After an option with names, each word with one dash is a name, unless it is an option. Each
    value of --epochs gets its own --epochs, since the next word may be a file.
    """
    known = {flag for option in options for flag in option.flags}
    flag = before = ""
    for word in words:
        is_name = False
        if word in known:
            flag = word
        elif flag in ("--names", "--baseline", "--systems"):
            is_name = re.match("-[^-]", word) is not None
        elif flag == "--epochs" != before and _counts(word):
            yield flag
        yield f"{_NAME}{word}" if is_name else word
        before = word


def _counts(word: str) -> bool:
    """Return whether a word is one of several values of --epochs."""
    from evalstats.designs.trials.metrics import trials_named

    return word == "mean" or trials_named(word) is not None


def as_typed(argument: Argument, options: argparse.Namespace) -> str:
    """Return an argument as it is typed, such as ``--missing intersect``, if it is an option."""
    if argument.name == "directions":
        if not argument.has_value:
            return "--higher-is-better, --lower-is-better"
        named: dict[str, list[str]] = {}
        for name, better in argument.value.items():
            named.setdefault(better, []).append(name)
        return " ".join(
            f"--{better}-is-better {' '.join(map(quote, metrics))}"
            for better, metrics in named.items()
        )
    if argument.name == "columns" and argument.has_value:
        return " ".join(
            ["--columns", *(quote(f"{name}={role}") for name, role in argument.value.items())]
        )
    if argument.name == "paired":
        return "--unpaired"
    name = {"metric": "metrics", "system": "systems"}.get(argument.name, argument.name)
    if name not in vars(options):
        return str(argument)
    value = argument.value if argument.has_value else ()
    words = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
    return " ".join([flag_of(name), *(quote(str(word)) for word in words)])


class _Once(argparse.Action):
    """Store a value; a second one would silently replace the first."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "is given more than once")
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """A parser that needs whole names of options, and prints errors of one line without usage."""

    def __init__(self, command: str, options: Iterable[Option]) -> None:
        super().__init__(f"evalstats {command}".strip(), add_help=False, allow_abbrev=False)
        self.register("action", None, _Once)
        self.set_defaults(command=command)
        self.add_argument("-h", "--help", action="store_true")
        self.add_argument("--help-all", action="store_true")
        for option in options:
            value, is_input = option.value, not option.flags[0].startswith("-")
            settings: dict[str, Any] = {} if is_input else {"dest": option.name}
            if not value:
                settings |= {"action": "store_true", "default": None}
            else:
                settings |= {"metavar": value, "type": partial(_read, value.removesuffix("..."))}
                if value.endswith("..."):
                    # Repeated options add to earlier values.
                    settings |= {"nargs": "*" if is_input else "+", "action": "extend"}
                if option.again:
                    settings["action"] = "append"
                if value.islower() and "|" in value:
                    settings["choices"] = value.split("|")
            self.add_argument(*option.flags, **settings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            raise argparse.ArgumentError(action, f"there is no {value!r}; {meant(value, known)}")

    def _hint(self, word: str) -> str:
        """Return a hint for a word that is not an option here."""
        if word in _SACREBLEU:
            return f"; {_SACREBLEU[word]}"
        if not word.startswith("--"):
            return ""
        flag = word.partition("=")[0]
        every = {name: list(chain(*options_of(name).values())) for name in COMMANDS}
        if names := [name for name, known in every.items() if any(flag in x.flags for x in known)]:
            return f"; {flag} is an option of {', '.join(names)}"
        known = self._option_string_actions
        for close in get_close_matches(flag, known, 1, 0.7):
            return (
                f"; did you mean {next(x for x in known[close].option_strings if x[:2] == '--')}?"
            )
        return ""

    def error(self, message: str) -> NoReturn:
        # argparse writes "argument -s/--smooth-method: expected one argument".
        message = message.removeprefix("argument ").replace(": is given", " is given")
        message = re.sub("expected (one|at least one) argument", r"expected \1 value", message)
        _, unrecognized, words = message.partition("unrecognized arguments: ")
        if unrecognized:
            message = f"{self.prog.split()[-1]} does not accept {words}"
            message += "".join(map(self._hint, words.split()))
        # As an `InputError` it is one printable line.
        complain(str(InputError(f"{self.prog}: error: {message}")))
        self.exit(2)


def _read(kind: str, text: str) -> Any:
    """Return a value of this kind from its text, or raise an error with what was expected."""
    text = text.removeprefix(_NAME)
    if kind == "SRC-TRG":
        if not re.fullmatch(r"[A-Za-z]{2,3}-[A-Za-z]{2,3}", text):
            raise argparse.ArgumentTypeError(f"expected SRC-TRG, for example en-de, got {text!r}")
        return text.lower()
    if kind == "ITEM,TRIAL":
        item, comma, trial = text.partition(",")
        if not comma:
            raise argparse.ArgumentTypeError(f"expected two prices, such as 10,1, got {text!r}")
        return _read("NUMBER", item), _read("NUMBER", trial)
    if kind in ("POINTS", "SHARE", "LEVEL") and re.fullmatch(r"[\d.]+ ?%", text):
        # For points, it must be checked later whether scores are from 0 to 1.
        share = float(f"{_read('NUMBER', text.rstrip(' %')) / 100:.10g}")
        return Percent(share) if kind == "POINTS" else share
    if kind not in ("N", "NUMBER", "POINTS", "SHARE", "LEVEL"):
        return text
    try:
        return int(text) if kind == "N" else float(text)
    except ValueError:
        number = "whole number" if kind == "N" else "number"
        raise argparse.ArgumentTypeError(f"expected a {number}, got {text!r}") from None


def _help(name: str, headings: Mapping[str, Sequence[Option]], everything: bool) -> str:
    """Return the help of a command: one screen, or everything."""
    command = COMMANDS[name]
    usage = f"evalstats {name} {command.usage} [options]".replace("  ", " ")
    lines = [f"usage: {folded(usage, len('usage: '))}", ""]
    lines += [f"  evalstats {name} {words}".rstrip() for words in command.examples]
    lines += ["", folded(f"{command.about[0].upper()}{command.about[1:]}.")]
    more: list[str] = []
    for heading, options in headings.items():
        lines += ["", f"{heading}:"]
        for option in options:
            is_rare = "rare" in option.use
            if is_rare and option.commands:
                more.append(option.flags[0])
            if everything or not is_rare:
                lines.append(entry(option.typed, option.help))
    if more and not everything:
        last = "the options of metrics" if "texts" in command.takes.split() else more.pop()
        lines += ["", folded(f"--help-all also shows {', '.join(more)} and {last}.")]
    return "\n".join([*lines, ""])


@cache
def metric_options(command: str) -> list[Option]:
    """Return an option for each field of each metric; most are rare, in some commands all."""
    listed = []
    for kind, options in METRIC_OPTIONS.items():
        types = get_type_hints(kind)
        for name, field in options.items():
            # For "float | None", values are read as the first type.
            of_value = (*get_args(types[field.name]), types[field.name])[0]
            known = {bool: "", int: "N", float: "NUMBER", str: "NAME"}[of_value]
            value = "|".join(field.metadata.get("choices", ())) or known
            flags = ", ".join([_SHORT[name], flag_of(name)] if name in _SHORT else [flag_of(name)])
            is_common = name == "tokenize" and command not in ("gate", "power", "meta")
            use = "texts" if is_common else "texts rare"
            listed.append(Option(f"{flags} {value}".rstrip(), "", _METRIC_HELP[name], use))
    return listed


def _alike(kinds: Iterable[Any], name: str) -> str:
    """Return the end of a message: the same option of these metrics."""
    options = [METRIC_OPTIONS.get(kind, {}).items() for kind in kinds]
    flags = [flag_of(option) for option, field in chain(*options) if field.name == name]
    return f"; did you mean {' or '.join(flags)}?" if flags else ""


def metrics_of(options: argparse.Namespace) -> list[Metric]:
    """Make the metrics, each with its own options; an option without effect is an error."""
    names = [written(name) for name in options.metrics or ["bleu"]]
    for name in names:
        several = [written(one) for one in name.split(",")]
        if len(several) > 1 and set(several) <= set(NAMED):
            raise InputError(
                f"must have spaces between names; pass -m {' '.join(several)}", argument="metrics"
            )
        if name not in NAMED:
            more = (
                "Pass scores that were computed elsewhere, one per segment, with --scores, or "
                "as a table without texts"
            )
            raise InputError(expected(name, NAMED, more), argument="metrics")
    given: dict[Any, dict[str, Any]] = {NAMED[name].func: {} for name in names}
    for kind, taken in METRIC_OPTIONS.items():
        for option, field in taken.items():
            if (value := getattr(options, option)) is not None:
                if kind not in given:
                    metric = next(name for name, make in NAMED.items() if make.func is kind)
                    more = _alike(given, field.name)
                    raise InputError(f"{flag_of(option)} has no effect without -m {metric}{more}")
                given[kind][field.name] = value
    if BLEU in given:
        _check_bleu(given[BLEU], options.language_pair)
    metrics: list[Metric] = []
    for name in names:
        make = NAMED[name]
        kind = make.func
        for field_name, value in make.keywords.items():
            if (asked := given[kind].get(field_name, value)) != value:
                flag = flag_of(f"{kind.__name__.lower()}_{field_name}")
                raise InputError(f"{flag} {asked} contradicts -m {name}, which has {value}")
        try:
            metric = make(**given[kind])
        except InputError as error:
            option_of = {field.name: option for option, field in METRIC_OPTIONS[kind].items()}
            error.argument = option_of.get(str(error.argument), error.argument)
            error.args = tuple(
                Argument(option_of.get(x.name, x.name)) if isinstance(x, Argument) else x
                for x in error.args
            )
            raise
        if metric in metrics:
            raise InputError(f"-m must list different metrics, got {' '.join(names)}")
        metrics.append(metric)
    return metrics


def _check_bleu(bleu: dict[str, Any], language_pair: str | None) -> None:
    """Add the language of the texts; refuse contradictions, and a value without a method."""
    if language_pair is not None:
        target = language_pair.partition("-")[2]
        if bleu.setdefault("trg_lang", target) != target:
            raise InputError(f"--trg-lang {bleu['trg_lang']} contradicts -l {language_pair}")
    method = bleu.get("smooth_method", BLEU.smooth_method)
    if "smooth_value" in bleu and NAMED_SMOOTHING[method].value is None:
        raise InputError(
            f"--smooth-value has no effect with --smooth-method {method}; use floor or add-k"
        )
