"""What can be typed: one table of commands, and one of options, in which each stands once.

A question of a comparison is one entry. A command that asks it names the method, or a public
function of evalstats that takes a comparison: ``"cases": Command(..., asks="cases")`` prints,
writes and draws what `Comparison.cases` returns. A flag that asks it is an `Option` whose use is
"question": ``--by LABEL`` prints what `Comparison.by` returns of the value. A command that asks
nothing of a comparison is the function of its name in `commands`.
"""

from __future__ import annotations

from collections.abc import Mapping
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, NamedTuple

from evalstats.analysis.settings import SETTINGS


class Command(NamedTuple):
    """What a command is for, how it is typed, examples, and which options it `takes`.

    These are the options of its name, and those of the groups that are named here: of "texts" and
    "logs", "scored" with intervals, in "units", "drawn" by resamples, "printed" in a form. `asks`
    is the method of a comparison, or the function of one, that answers it.
    """

    about: str
    usage: str
    examples: tuple[str, ...]
    takes: str
    asks: str = ""


class Option(NamedTuple):
    """How an option is typed, of which commands or groups it is one, what it does and becomes.

    Its last word says what comes after it: nothing, a value, one value or more (``FILE...``), or
    one of several (``mean|runs``). In the options of a command it has the name `to`, or else its
    first long one. What may be given `again` is a list; for some commands other fields hold
    `instead`.

    Its `use` is in these words: an "argument" of the call under its name; a "question" of the
    comparison, asked with the value; a "label" of segments; what only "texts", a "log" or "battles"
    have; "rare" if only ``--help-all`` shows it. Of an option of `forms` the value is an argument
    of `to_text` and its like.
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
        """How it is called; an input that needs no flag has its name in lower case."""
        words = self.typed.replace(",", "").split()
        return [word for word in words if word.startswith("-")] or ["logs"]

    @property
    def value(self) -> str:
        """What comes after it, as it is typed."""
        last = self.typed.split()[-1]
        return "" if last.startswith("-") else last

    @property
    def name(self) -> str:
        """Its name among the options of a command."""
        long = next((flag for flag in self.flags if flag.startswith("--")), self.flags[0])
        return self.to or long.lstrip("-").replace("-", "_")


def _core(name: str, commands: str, use: str = "", **more: Any) -> Option:
    """Return an option of the core's schema, of these commands or groups, in this use."""
    setting = SETTINGS[name]
    return Option(setting.typed, commands, setting.help, use, to=name, **more)


_INPUT = "LOG... | FILE.npz... | -i OUT... -r REF..."
COMMANDS = {
    "compare": Command(
        "which systems differ, by how much, and how sure that is", _INPUT,
        ("-r ref.txt -i old.txt new.txt -m bleu chrf --baseline old", "logs/ --task 'mmlu*'"),
        "texts logs scored units drawn printed"),
    "estimate": Command(
        "score systems, with intervals", _INPUT,
        ("-r ref.txt -i system.txt -m chrf++", "scores.csv --groups document"),
        "texts logs scored units drawn printed"),
    "rank": Command(
        "ranks with their intervals, tiers of ties", _INPUT,
        ("-r ref.txt -i systems/*.txt -m bleu chrf", "scores.tsv --clusters wmt25"),
        "texts logs scored units drawn printed"),
    "power": Command(
        "from a pilot: which differences are found, how many segments they need", _INPUT,
        ("-r ref.txt -i old.txt new.txt --difference 1", "pilot.csv --segments 2000"),
        "texts logs units printed"),
    "gate": Command(
        "may a new model take another's place? exit code 0 passed, 1 failed, 3 undecided, 4 go on",
        "NEW --baseline BASE --margin POINTS | NEW --at-least POINTS",
        ("logs/new --baseline logs/old --recovery 0.99",
         "-i new.txt --baseline old.txt -r ref.txt --margin 1"),
        "texts logs units drawn printed"),
    "plan": Command(
        "which items to run a new system on, so that the score of all is known", _INPUT,
        ("base/ --items 125 -o plan.json -o items.csv",
         "-r ref.txt -i a.txt b.txt c.txt --items 400 -o plan.json"),
        "texts logs printed"),
    "cases": Command(
        "which items with several trials got worse, each tested by itself", "NEW --baseline BASE",
        ("logs/new --baseline logs/old", "agents.csv --systems new --baseline old -o cases.csv"),
        "logs drawn printed", asks="cases"),
    "meta": Command(
        "which metrics rank systems as people do: metrics in the place of systems",
        "HUMAN LOG... | -i OUT... -r REF... --scores HUMAN",
        ("human.tsv metrics.tsv", "-r ref.txt -i systems/*.txt -m bleu chrf --scores human.csv"),
        "texts logs drawn printed"),
    "show": Command(
        "what is in a log, a table of scores, a file of statistics or a result",
        "LOG... | FILE.npz... | RESULT.json",
        ("logs/", "scores.csv --metric acc"), "logs printed"),
    "extract": Command(
        "keep statistics, to compare without texts", "-i OUT... -r REF... -o FILE.npz",
        ("-r ref.txt -i system.txt -o system.npz",
         "-r ref.txt -i a.txt b.txt -m chrf -o chrf.npz"), "texts"),
    "demo": Command(
        "compare four systems on the bundled sample; with --files write what the pages read", "",
        ("", "--files examples"), "printed"),
    "guide": Command(
        "print a page for coding assistants: what to ask, which command, what may be said", "",
        ("",), ""),
}  # fmt: skip

#: Columns of help: at most, and beside an option at least.
_WIDEST, _NARROWEST = 100, 20
_OUTPUT = "txt md tex csv json html png pdf svg; printed as well; repeats"
_FORMS = "text|json|markdown|latex|html|csv"
#: The options, under the headings of the help.
OPTIONS = {
    "input": [
        Option("LOG...", "logs", "a log, a folder, a table of scores, or FILE.npz"),
        Option("-i, --input FILE...", "texts", "outputs, a file a system, a segment a line"),
        Option("-r, --references FILE...", "texts", "a file a reference; - is standard input",
               "texts"),
        Option("--num-refs N", "texts", "references in a line of -r, with tabs between them",
               "texts rare"),
        Option("--blank-is-absent", "texts",
               "an empty line means that this reference is absent, not that it is empty",
               "texts rare"),
        Option("-m, --metrics, --metric METRIC...", "texts logs",
               "bleu (default) chrf chrf++ ter wer cer rougeL; which of logs",
               instead={name: {"help": "which of logs"} for name in ("show", "cases")}),
        Option("--systems PATTERN...", "logs", "choose systems, and their order"),
        Option("--names NAME...", "texts show", "names of systems, one a file; again for runs"),
        Option("--task PATTERN...", "logs", "tasks of logs, such as 'mmlu*'", "log"),
        Option("--filter PATTERN...", "logs", "filters of lm-evaluation-harness", "log rare"),
        Option("--missing error|failure|intersect|available", "logs",
               "where not all have all (default: error; crashes of agents fail)", "log rare"),
        Option("--epochs EPOCHS", "logs",
               "several answers to an item (default: mean, or runs); several are several metrics",
               "log rare", again=True),
        Option("--human FILE|COLUMN", "units meta",
               "people's scores of a part of the items, beside a judge's of all", "log rare",
               instead={"meta": {"typed": "--human METRIC", "use": "log",
                                 "help": "which scores are people's (default: the first log's)"}}),
        Option("--measure spa|pa|acc_eq|pearson|kendall", "meta",
               "of pairs of systems (spa, pa), or of outputs within segments (default: spa)",
               "argument"),
        Option("--plan FILE", "scored gate",
               "systems were run on all items, or on those of the plan (texts: other lines empty)",
               "rare"),
        Option("--items N", "plan", "how many to run; of groups in the mean", "argument", to="n"),
        Option("--how equal|active", "plan",
               "as likely all, or more where earlier systems surprise (default: equal)",
               "argument"),
        Option("--scale log-odds|elo", "scored", "of strengths, of battles (default: log-odds)",
               "battles rare"),
        Option("--allow-changes KIND...", "gate",
               "what may differ: version shots dataset arguments prompts; what may be: missing "
               "labels empty alike unread unmoved floor scale", "rare"),
        Option("--columns COLUMN=ROLE...", "logs", "what is in tables of scores: mine=score",
               "log rare"),
        Option("--lower-is-better METRIC...", "logs", "of scores whose name does not say it",
               "log rare"),
        Option("--higher-is-better METRIC...", "logs", "likewise", "log rare"),
        Option("-t, --test-set NAME", "texts", "sacreBLEU's test set in place of -r; with -l",
               "texts rare"),
        Option("-l, --language-pair SRC-TRG", "texts", "en-de: TRG chooses the tokeniser",
               "texts rare"),
        Option("--scores FILE...", "scored meta",
               "scores of the systems and lines of -i, as of COMET", "texts rare",
               instead={"meta": {"help": "people's scores of the systems and lines of -i",
                                 "use": "texts"}}),
        Option("--ids FILE", "extract", "one name of a segment a line"),
    ],
    "units": [
        _core("groups", "units plan meta", "label"),
        _core("strata", "units plan", "label rare"),
        Option("--unpaired", "compare rank gate", "systems have other items; -r: a file a system",
               "rare"),
        _core("paired_runs", "compare rank gate", "argument rare"),
        Option("--by NAME|FILE", "compare", "a row a domain, and whether they differ",
               "label question rare"),
        _core("aggregate", "units", "rare"),
    ],
    "test": [
        _core("baseline", "compare power gate cases meta",
              instead={"gate": {"typed": "--baseline BASE",
                                 "help": "what is in use: log, file of outputs, or name"},
                        "cases": {"typed": "--baseline BASE",
                                  "help": "what is in use: a log, or a name"}}),
        _core("margin", "compare gate", "argument"),
        _core("recovery", "compare gate", "argument"),
        Option("--at-least POINTS", "gate power", "without a baseline: the score to reach",
               "argument"),
        Option("--at-most POINTS", "gate power", "likewise, where lower is better",
               "argument rare"),
        Option("--on all|total", "gate", "all, or of tasks the total, decide (default: all)",
               "argument"),
        Option("--difference POINTS", "power", "a true difference", "argument"),
        Option("--segments N", "power", "of the plan, or groups (default: the pilot's)",
               "argument", to="n_segments"),
        Option("--trials N...", "power", "answers to each item that are planned", "argument"),
        Option("--width POINTS", "power", "how narrow an interval is to be", "argument"),
        Option("--price ITEM,TRIAL", "power", "items or trials? what each costs: the cheapest",
               "argument"),
        Option("--power LEVEL", "power", "target (default: 0.8)", "argument"),
        Option("--clusters simultaneous|wmt|wmt25", "rank",
               "by verdicts (default), or WMT's tests of segments' scores", "rare"),
        _core("method", "scored", "argument rare"),
        _core("alternative", "compare power", "argument rare"),
        _core("adjustment", "compare rank", "argument rare",
              instead={"rank": {"typed": "--adjustment, --adjust max-t|holm"}}),
        _core("confidence_level", "scored power cases meta", "argument"),
        _core("significance_level", "power gate", "argument"),
        Option("--of N", "gate", "items, or groups, planned at most: a look at those so far",
               "argument rare"),
        Option("--looks N", "gate power", "how many looks are planned (default of gate: 8)",
               "argument rare"),
        Option("--start N", "gate", "no look before the last decides on fewer items (default: 100 "
               "without --of, but of 0/1 scores)", "argument rare"),
        Option("--state FILE", "gate", "JSON of all looks so far; with --of N"),
        Option("--undecided pass|fail", "gate", "what it counts as: exit with 0 or 1, not with 3",
               "argument rare"),
        _core("n_resamples", "drawn", "argument"),
        _core("rng", "drawn plan", "argument"),
    ],
    "output": [
        Option("-o, --output FILE", "printed extract", _OUTPUT, again=True,
               instead={"gate": {"help": f"xml {_OUTPUT}"},
                        "extract": {"typed": "-o, --output FILE.npz", "help": "where to",
                                    "again": False}}),
        Option(f"-f, --format {_FORMS}", "printed", "default: as -o, or text",
               instead={"gate": {"typed": f"-f, --format {_FORMS}|junit"}}),
        Option("--verbose", "printed", "every column, all notes and signatures", forms="text"),
        Option("-q, --quiet", "printed extract", "print no sentences, and nothing that -o writes"),
        Option("--describe", "compare estimate demo", "print the sentence for a method section"),
        Option("--files FOLDER", "demo", "write the files of the pages there, and no table"),
        Option("--digits N", "printed", "decimals of scores (default: two of the smallest error)",
               "rare", "text markdown latex"),
        Option("--caption TEXT", "printed", "of LaTeX, then a float; the title of a report",
               "rare", "latex html"),
        Option("--label NAME", "printed", "likewise, for \\ref", "rare", "latex"),
    ],
}  # fmt: skip
EVERY = [option for options in OPTIONS.values() for option in options]
_FLAGS = {option.name: option.flags[0] for option in EVERY}


def overview() -> str:
    """Return what `evalstats --help` prints."""
    commands = "\n".join(entry(name, command.about, 13) for name, command in COMMANDS.items())
    return f"""usage: evalstats COMMAND ...

Is this difference real? Scores with intervals, differences with p-values.

{commands}

evalstats COMMAND --help says how; evalstats --version prints the version.
"""


def entry(typed: str, help: str, indent: int = 29) -> str:
    """Return a command or an option with its help beside it, or below where it is long."""
    typed = f"  {typed}"
    start = f"{typed:<{indent}}" if len(typed) < indent else f"{typed}\n{'':{indent}}"
    return start + folded(help, indent)


def folded(text: str, indent: int = 0) -> str:
    """Return text for the terminal, 80 columns where there is none, that begins at `indent`."""
    width = max(min(get_terminal_size().columns, _WIDEST) - indent, _NARROWEST)
    lines = fill(text, width, break_on_hyphens=False, break_long_words=False)
    return lines.replace("\n", f"\n{'':{indent}}")


def options_of(command: str) -> dict[str, list[Option]]:
    """Return the options of a command by heading, as it has them."""
    # What answers to an item become is a list of the library, which takes time to load.
    from evalstats.designs.trials.metrics import EPOCHS

    taken = {command, *COMMANDS[command].takes.split()}
    found: dict[str, list[Option]] = {}
    for heading, options in OPTIONS.items():
        for option in options:
            if not taken.isdisjoint(option.commands.split()):
                own = option._replace(**option.instead.get(command, {}))
                typed = own.typed.replace("EPOCHS", "|".join(EPOCHS))
                found.setdefault(heading, []).append(own._replace(typed=typed))
    return found


def flag_of(name: str) -> str:
    """Return the flag of an option from its name; metrics have some that are not here."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")


def names_of(use: str) -> list[str]:
    """Return the names of all options of a use, in the order of the table."""
    return [option.name for option in EVERY if use in option.use.split()]
