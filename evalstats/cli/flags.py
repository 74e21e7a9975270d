"""The command line: one table of commands, and one of options.

A question of a comparison is one entry. A command for it names the method, or a public function of
evalstats that takes a comparison: ``"cases": Command(..., asks="cases")`` prints, writes and draws
the result of `Comparison.cases`. A flag for it is an `Option` with the use "question": ``--by
LABEL`` prints the result of `Comparison.by` for the value. Other commands are the functions with
their names in `commands`.
"""

from __future__ import annotations

from collections.abc import Mapping
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, NamedTuple

from evalstats.analysis.settings import SETTINGS


class Command(NamedTuple):
    """The purpose of a command, its usage, its examples, and the options that it `takes`.

    These are the options with its name, and the options of the groups named here: "texts" and
    "logs" that it reads, "scored" with intervals, in "units", "drawn" by resamples, "printed".
    `asks` is the method of a comparison, or the function of one, that returns the result.
    """

    about: str
    usage: str
    examples: tuple[str, ...]
    takes: str
    asks: str = ""


class Option(NamedTuple):
    """An option: its spelling, its commands or groups, its help, and its use.

    The last word of `typed` is its value, if it takes one: a value, several values (``FILE...``),
    or one of several words (``mean|runs``). Its name among the options of a command is `to`, or
    its first long flag. An option that can be given `again` is a list. For some commands, other
    fields are used `instead`.

    Its `use` consists of these words: an "argument" of the call by its name; a "question" of the
    comparison, with the value; a "label" of segments; options only for "texts", a "log" or
    "battles"; "rare" if only ``--help-all`` shows it. The value of an option with `forms` is an
    argument of `to_text` and similar methods.
    """

    typed: str
    commands: str
    help: str
    use: str = ""
    forms: str = ""
    to: str = ""
    again: bool = False
    instead: Mapping[str, Mapping[str, Any]] = {}

    @property
    def flags(self) -> list[str]:
        """Its flags; an input without a flag has its name in lower case."""
        words = self.typed.replace(",", "").split()
        return [word for word in words if word.startswith("-")] or ["logs"]

    @property
    def value(self) -> str:
        """Its value, as typed."""
        last = self.typed.split()[-1]
        return "" if last.startswith("-") else last

    @property
    def name(self) -> str:
        """Its name among the options of a command."""
        long = next((flag for flag in self.flags if flag.startswith("--")), self.flags[0])
        return self.to or long.lstrip("-").replace("-", "_")


def _core(name: str, commands: str, use: str = "", **more: Any) -> Option:
    """Return an option of the core's schema, for these commands or groups, with this use."""
    setting = SETTINGS[name]
    return Option(setting.typed, commands, setting.help, use, to=name, **more)


_INPUT = "LOG... | FILE.npz... | -i OUT... -r REF..."
COMMANDS = {
    "compare": Command(
        "compare systems, with an interval and a p-value for each difference", _INPUT,
        ("-r ref.txt -i old.txt new.txt -m bleu chrf --baseline old", "logs/ --task 'mmlu*'"),
        "texts logs scored units drawn printed"),
    "estimate": Command(
        "compute the score of each system, with an interval", _INPUT,
        ("-r ref.txt -i system.txt -m chrf++", "scores.csv --groups document"),
        "texts logs scored units drawn printed"),
    "rank": Command(
        "rank systems, with an interval for each rank, and show which ones are tied", _INPUT,
        ("-r ref.txt -i systems/*.txt -m bleu chrf", "scores.tsv --clusters wmt25"),
        "texts logs scored units drawn printed"),
    "power": Command(
        "compute from a pilot run how many segments you need, or what you can detect", _INPUT,
        ("-r ref.txt -i old.txt new.txt --difference 1", "pilot.csv --segments 2000"),
        "texts logs units printed"),
    "gate": Command(
        "decide whether a new system can replace an old one; the exit code is 0 if it passed, 1 if "
        "it failed, 3 if undecided, and 4 if more items are needed",
        "NEW --baseline BASE --margin POINTS | NEW --at-least POINTS",
        ("logs/new --baseline logs/old --recovery 0.99",
         "-i new.txt --baseline old.txt -r ref.txt --margin 1"),
        "texts logs units drawn printed"),
    "plan": Command(
        "choose a subset of the items from which the score on all items can be estimated", _INPUT,
        ("base/ --items 125 -o plan.json -o items.csv",
         "-r ref.txt -i a.txt b.txt c.txt --items 400 -o plan.json"),
        "texts logs printed"),
    "cases": Command(
        "find the items on which a system got worse, if each item has several trials",
        "NEW --baseline BASE",
        ("logs/new --baseline logs/old", "agents.csv --systems new --baseline old -o cases.csv"),
        "logs drawn printed", asks="cases"),
    "meta": Command(
        "compare metrics by how well they agree with human scores",
        "HUMAN LOG... | -i OUT... -r REF... --scores HUMAN",
        ("human.tsv metrics.tsv", "-r ref.txt -i systems/*.txt -m bleu chrf --scores human.csv"),
        "texts logs drawn printed"),
    "show": Command(
        "show what is in a log, a table of scores, a file of statistics, or a result",
        "LOG... | FILE.npz... | RESULT.json",
        ("logs/", "scores.csv --metric acc"), "logs printed"),
    "extract": Command(
        "save the statistics of texts, to compare systems later without the texts",
        "-i OUT... -r REF... -o FILE.npz",
        ("-r ref.txt -i system.txt -o system.npz",
         "-r ref.txt -i a.txt b.txt -m chrf -o chrf.npz"), "texts"),
    "demo": Command(
        "compare four systems from the sample that comes with evalstats, or write example files",
        "", ("", "--files examples"), "printed"),
    "guide": Command(
        "print a guide for coding assistants: which command answers a question, and how to report "
        "the result", "", ("",), ""),
}  # fmt: skip

#: The largest width of a help, and the smallest width of a text next to an option.
_WIDEST, _NARROWEST = 100, 20
_OUTPUT = "txt, md, tex, csv, json, html, png, pdf or svg); may be given several times"
_FORMS = "text|json|markdown|latex|html|csv"
#: The options, under the headings of the help.
OPTIONS = {
    "input": [
        Option("LOG...", "logs", "logs, folders, tables of scores, or FILE.npz"),
        Option("-i, --input FILE...", "texts", "one file per system, with one output per line"),
        Option("-r, --references FILE...", "texts",
               "one or more files of references, or - for stdin", "texts"),
        Option("--num-refs N", "texts", "number of references in each line of -r, with tabs "
                                        "between them (default: 1)", "texts rare"),
        Option("--blank-is-absent", "texts", "treat an empty line as a missing reference, if "
                                             "there are several references", "texts rare"),
        Option("-m, --metrics, --metric METRIC...", "texts logs",
               "metrics: bleu (default), chrf, chrf++, ter, wer, cer, rougeL, or metrics in logs, "
               "such as 'acc*'",
               instead={**{name: {"help": "metrics in the logs, such as 'acc*' (default: all)"}
                           for name in ("show", "cases")},
                        "extract": {"help": "metric: bleu (default), chrf, chrf++, ter, wer, cer "
                                            "or rougeL"}}),
        Option("--systems PATTERN...", "logs", "systems to use, in this order (default: all)"),
        Option("--names NAME...", "texts show",
               "names of systems (repeat a name for several runs)",
               instead={"gate": {"use": "rare"}, "show": {"help": "names for the logs"},
                        "extract": {"help": "names of the systems (default: from the files)"}}),
        Option("--task PATTERN...", "logs", "tasks in logs, such as 'mmlu*' (default: all)", "log"),
        Option("--filter PATTERN...", "logs", "filters in logs, such as strict-match "
                                              "(default: all)", "log rare"),
        Option("--missing error|failure|intersect|available", "logs",
               "stop at missing items (default), count them as failed, use only shared items, or "
               "use all scores", "log",
               instead={"show": {"use": "log rare"}}),
        Option("--epochs EPOCHS", "logs",
               "treatment of several answers to an item (default: mean, or runs if they are "
               "numbered by run or seed); may be given several times", "log rare", again=True),
        Option("--human FILE|COLUMN", "units meta",
               "human labels for some of the items, to correct a judge's scores",
               "log rare",
               instead={"meta": {"typed": "--human METRIC", "use": "log",
                                 "help": "metric with human scores (default: the metric of "
                                         "the first log)"}}),
        Option("--measure spa|pa|acc_eq|pearson|kendall", "meta",
               "measure of agreement on pairs of systems (spa, pa) or on the outputs of a segment "
               "(default: spa)", "argument"),
        Option("--plan FILE", "scored gate",
               "file from evalstats plan, if a system was run on its items only (the other lines "
               "of its outputs must be empty)", "rare"),
        Option("--items N", "plan",
               "number of items to run (on average, if there are groups)", "argument", to="n"),
        Option("--how equal|active", "plan",
               "draw items with equal probabilities, or more often if they are hard to predict "
               "(default: equal)", "argument"),
        Option("--scale log-odds|elo", "scored",
               "scale of the strengths that are computed from battles (default: log-odds)",
               "battles rare"),
        Option("--allow-changes KIND...", "gate",
               "accept changes of settings (version, shots, dataset, arguments, prompts), or "
               "cautions (missing, limited, labels, empty, alike, shifted, unread, unmoved, floor, "
               "scale)",
               "rare"),
        Option("--columns COLUMN=ROLE...", "logs", "roles of the columns of a table, such as "
                                                   "mine=score", "log rare"),
        Option("--lower-is-better METRIC...", "logs", "metrics in which lower scores are better",
               "log rare"),
        Option("--higher-is-better METRIC...", "logs", "metrics in which higher scores are better",
               "log rare"),
        Option("-t, --test-set NAME", "texts", "sacreBLEU test set, such as wmt22, instead of "
                                               "-r; pass -l as well", "texts rare"),
        Option("-l, --language-pair SRC-TRG", "texts",
               "languages, such as en-de; the second one chooses the tokeniser", "texts rare"),
        Option("--scores FILE...", "scored meta",
               "other scores for the outputs given with -i, such as COMET scores",
               "texts rare",
               instead={"meta": {"help": "human scores for the outputs given with -i",
                                 "use": "texts"}}),
        Option("--ids FILE", "extract", "file with one segment name per line"),
    ],
    "units": [
        _core("groups", "units plan meta", "label"),
        _core("strata", "units plan", "label rare"),
        Option("--unpaired", "compare rank gate",
               "compare systems that have different items; -r then has one file per system",
               "rare"),
        _core("paired_runs", "compare rank gate", "argument rare"),
        Option("--by NAME|FILE", "compare",
               "print the results for each domain (a label, or a file of labels), and test whether "
               "they differ", "label question rare"),
        _core("aggregate", "units", "rare"),
    ],
    "test": [
        _core("baseline", "compare power gate cases meta",
              instead={"gate": {"typed": "--baseline BASE",
                                 "help": "log, file of outputs, or name of the system in use"},
                        "cases": {"typed": "--baseline BASE",
                                  "help": "log, or name of the system in use"},
                        "meta": {"help": "name of the metric to compare the others with"}}),
        _core("margin", "compare gate", "argument"),
        _core("recovery", "compare gate", "argument"),
        Option("--at-least POINTS", "gate power",
               "required score in points, if there is no baseline", "argument"),
        Option("--at-most POINTS", "gate power",
               "score not to exceed, in points, if lower is better", "argument rare"),
        Option("--on all|total", "gate",
               "test every task, or only the total (default: all)", "argument"),
        Option("--difference POINTS", "power", "true difference that you want to find, in points",
               "argument"),
        Option("--segments N", "power",
               "number of segments (default: as in the pilot)",
               "argument", to="n_segments"),
        Option("--trials N...", "power", "planned numbers of answers per item", "argument"),
        Option("--width POINTS", "power", "width of the interval that you want, in points",
               "argument"),
        Option("--price ITEM,TRIAL", "power",
               "price of an item and of a trial, to find the cheapest design", "argument"),
        Option("--power LEVEL", "power", "chance of finding the difference (default: 0.8)",
               "argument"),
        Option("--clusters simultaneous|wmt|wmt25", "rank",
               "rule for clusters: the verdicts of the table (default), or WMT's tests on segment "
               "scores", "rare"),
        _core("method", "scored", "argument rare"),
        _core("alternative", "compare power", "argument rare"),
        _core("adjustment", "compare rank", "argument rare",
              instead={"rank": {"typed": "--adjustment, --adjust max-t|holm"}}),
        _core("confidence_level", "scored power cases meta", "argument"),
        _core("significance_level", "power gate", "argument"),
        Option("--of N", "gate",
               "planned number of items, or of groups, if you test before all of them have arrived",
               "argument rare"),
        Option("--looks N", "gate power", "planned number of looks at the results (default: 8)",
               "argument rare",
               instead={"power": {"help": "planned number of looks at the results"}}),
        Option("--start N", "gate",
               "fewest items for a decision before the last look (default: 2, but 100 for scores "
               "other than 0 and 1 without --of)", "argument rare"),
        Option("--state FILE", "gate", "JSON file that stores the test between looks"),
        Option("--undecided pass|fail", "gate",
               "count an undecided gate as passed or failed, with exit code 0 or 1 instead of 3",
               "argument rare"),
        _core("n_resamples", "drawn", "argument"),
        _core("rng", "drawn plan", "argument"),
    ],
    "output": [
        Option("-o, --output FILE", "printed extract", f"file to write ({_OUTPUT}",
               again=True,
               instead={"gate": {"help": f"file to write (xml, {_OUTPUT}"},
                        "extract": {"typed": "-o, --output FILE.npz", "help": "file to write",
                                    "again": False}}),
        Option(f"-f, --format {_FORMS}", "printed",
               "output format (default: text, or the suffix of -o)",
               instead={"gate": {"typed": f"-f, --format {_FORMS}|junit"}}),
        Option("--verbose", "printed", "print every column, all notes and all signatures",
               forms="text"),
        Option("-q, --quiet", "printed extract", "print only the tables, or nothing if -o is given",
               instead={"extract": {"help": "do not print what was written"}}),
        Option("--describe", "compare estimate demo",
               "print text for the methods section of a paper"),
        Option("--files FOLDER", "demo", "write the example files to this folder"),
        Option("--digits N", "printed",
               "number of decimals of scores (default: enough for two digits of the smallest "
               "error)",
               "rare", "text markdown latex"),
        Option("--caption TEXT", "printed", "caption of a LaTeX table, or title of a report",
               "rare", "latex html"),
        Option("--label NAME", "printed", "label of a LaTeX table, for \\ref", "rare", "latex"),
    ],
}  # fmt: skip
EVERY = [option for options in OPTIONS.values() for option in options]
_FLAGS = {option.name: option.flags[0] for option in EVERY}


def overview() -> str:
    """Return what `evalstats --help` prints."""
    commands = "\n".join(entry(name, command.about, 13) for name, command in COMMANDS.items())
    return f"""usage: evalstats COMMAND ...

Is this difference real? evalstats computes scores with intervals, and
differences with p-values.

{commands}

evalstats COMMAND --help shows the options of a command, and
evalstats --version shows the version.
"""


def entry(typed: str, help: str, indent: int = 29) -> str:
    """Return a command or an option with its help next to it, or below it if it is long."""
    typed = f"  {typed}"
    start = f"{typed:<{indent}}" if len(typed) < indent else f"{typed}\n{'':{indent}}"
    return start + folded(help, indent)


def folded(text: str, indent: int = 0) -> str:
    """Return text folded for the terminal (80 columns by default), beginning at `indent`."""
    width = max(min(get_terminal_size().columns, _WIDEST) - indent, _NARROWEST)
    lines = fill(text, width, break_on_hyphens=False, break_long_words=False)
    return lines.replace("\n", f"\n{'':{indent}}")


def options_of(command: str) -> dict[str, list[Option]]:
    """Return the options of a command by heading, with its own variants."""
    # The values of --epochs are defined in the library, which is slow to load.
    from evalstats.designs.trials.metrics import EPOCHS

    taken = {command, *COMMANDS[command].takes.split()}
    by_heading: dict[str, list[Option]] = {}
    for heading, options in OPTIONS.items():
        for option in options:
            if not taken.isdisjoint(option.commands.split()):
                adapted = option._replace(**option.instead.get(command, {}))
                typed = adapted.typed.replace("EPOCHS", "|".join(EPOCHS))
                by_heading.setdefault(heading, []).append(adapted._replace(typed=typed))
    return by_heading


def flag_of(name: str) -> str:
    """Return the flag of an option from its name, also for options of metrics."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")


def names_of(use: str) -> list[str]:
    """Return the names of all options with a use, in the order of the table."""
    return [option.name for option in EVERY if use in option.use.split()]
