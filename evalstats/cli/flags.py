"""What can be typed: one table of commands, one of options. No other room is needed for it."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """What a command is for, how it is typed, and two examples."""

    about: str
    usage: str
    examples: tuple[str, str]


class Option(NamedTuple):
    """How an option is typed, of which commands it is one, and what it does.

    Its last word says what comes after it: nothing, a value, one value or more (``FILE...``), or
    one of several (``mean|runs``). In the options of a command it has the name `to`, that of the
    argument which it becomes, or else its first long one. What may be given `again` is a list.
    """

    typed: str
    commands: str
    help: str
    to: str = ""
    again: bool = False

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

    @property
    def is_rare(self) -> bool:
        """Whether only ``--help-all`` has it."""
        return not (self.help and RARE.isdisjoint(self.flags))


_INPUT = "LOG... | FILE.npz... | -i OUT... -r REF..."
COMMANDS = {
    "compare": Command(
        "which systems differ, by how much, and how sure that is", _INPUT,
        ("-r ref.txt -i old.txt new.txt -m bleu chrf --baseline old", "logs/ --task 'mmlu*'")),
    "estimate": Command(
        "score systems, with intervals", _INPUT,
        ("-r ref.txt -i system.txt -m chrf++", "scores.csv --groups document")),
    "rank": Command(
        "ranks with their intervals, tiers of ties, a composite score", _INPUT,
        ("-r ref.txt -i systems/*.txt -m bleu chrf", "scores.tsv --composite autorank")),
    "power": Command(
        "from a pilot: which differences are found, how many segments they need", _INPUT,
        ("-r ref.txt -i old.txt new.txt --difference 1", "pilot.csv --segments 2000")),
    "gate": Command(
        "may a new model take another's place? exit code 0 passed, 1 failed, 3 undecided, 4 go on",
        "NEW --baseline BASE --margin POINTS | --recovery SHARE",
        ("logs/new --baseline logs/old --recovery 0.99",
         "-i new.txt --baseline old.txt -r ref.txt --margin 1")),
    "cases": Command(
        "which items with several trials got worse, each tested by itself", "NEW --baseline BASE",
        ("logs/new --baseline logs/old", "agents.csv --systems new --baseline old -o cases.csv")),
    "show": Command(
        "what is in a log, a table of scores or a file of statistics", "LOG... | FILE.npz...",
        ("logs/", "scores.csv --metric acc")),
    "extract": Command(
        "keep statistics, to compare without texts", "-i OUT... -r REF... -o FILE.npz",
        ("-r ref.txt -i system.txt -o system.npz",
         "-r ref.txt -i a.txt b.txt -m chrf -o chrf.npz")),
    "audit": Command(
        "what sacreBLEU and evaluatio print, beside the calibrated p-value", _INPUT,
        ("-r ref.txt -i old.txt new.txt -m bleu chrf", "old.npz new.npz")),
    "demo": Command(
        "compare four systems on the bundled sample; with --files write what the pages read", "",
        ("", "--files examples")),
}  # fmt: skip

_SCORED = "compare estimate rank"
_PAIRED = "compare rank power gate audit"
_ANY = f"{_PAIRED} estimate"
_LOGS, _TEXTS = f"{_ANY} show cases", f"{_ANY} extract"
_DRAWN = f"{_SCORED} gate audit cases"
_PRINTED = f"{_LOGS} demo"
_OUTPUT = "repeats; by suffix txt md tex csv json html png pdf svg"
_FORMS = "text|json|markdown|latex|html|csv"

#: The options by heading. Those of a test are arguments of the call under their names.
OPTIONS = {
    "input": [
        Option("LOG...", _LOGS, "a log, a folder of logs, a table of scores, or FILE.npz"),
        Option("-i, --input FILE...", _TEXTS, "outputs, a file a system, a segment a line"),
        Option("-r, --references FILE...", _TEXTS, "a file a reference; - is standard input"),
        Option("-m, --metrics, --metric METRIC...", _TEXTS,
               "bleu (default) chrf chrf++ ter wer cer rougeL; which of logs"),
        Option("-m, --metrics, --metric METRIC...", "show cases", "which of logs"),
        Option("--systems PATTERN...", _LOGS, "choose systems, and their order"),
        Option("--names NAME...", f"{_TEXTS} show", "names of systems, one a file; again for runs"),
        Option("--task PATTERN...", _LOGS, "tasks of logs, such as 'mmlu*'"),
        Option("--filter PATTERN...", _LOGS, "filters of lm-evaluation-harness"),
        Option("--missing error|intersect|available", _LOGS,
               "where not all have all (default: error)"),
        Option("--epochs mean|runs|pass^K|pass@K|flips|icc", _LOGS,
               "several answers to an item (default: mean)"),
        Option("--human FILE|COLUMN", f"{_SCORED} power gate",
               "people's scores of a part of the items, beside a judge's of all"),
        Option("--scale log-odds|elo", _SCORED, "of strengths, of battles (default: log-odds)"),
        Option("--ties half|davidson", _SCORED,
               "of battles: half a win of each, or with a probability of their own"),
        Option("--allow-changes KIND...", "gate",
               "what may differ: version shots dataset arguments prompts"),
        Option("--columns COLUMN=ROLE...", _LOGS, "what is in tables of scores: mine=score"),
        Option("--lower-is-better METRIC...", _LOGS, "of scores whose name does not say it"),
        Option("--higher-is-better METRIC...", _LOGS, "likewise"),
        Option("-t, --test-set NAME", _TEXTS, "sacreBLEU's test set in place of -r; with -l"),
        Option("-l, --language-pair SRC-TRG", _TEXTS, "en-de: TRG chooses the tokeniser"),
        Option("--scores FILE...", _SCORED, "scores of the systems and lines of -i, as of COMET"),
        Option("--ids FILE", "extract", "one name of a segment a line"),
    ],
    "units": [
        Option("--groups NAME|FILE", f"{_SCORED} power gate",
               "of documents: a label of the items, or a label a line"),
        Option("--strata NAME|FILE", f"{_SCORED} power gate",
               "likewise a domain: drawn within each"),
        Option("--unpaired", "compare rank gate", "systems have other items; -r: a file a system"),
        Option("--paired-runs", "compare rank gate", "run 1 of all has the same prompt, or seed"),
        Option("--by NAME|FILE", "compare", "a row a domain, and whether they differ"),
        Option("--over NAME|FILE", "compare", "means over domains, or task, as a sample of them"),
        Option("--aggregate micro|macro", f"{_SCORED} power gate",
               "over strata or tasks: all together, or means"),
    ],
    "test": [
        Option("--baseline NAME", "compare power audit", "compare all with it; name or path"),
        Option("--baseline BASE", "gate", "what is in use: log, file of outputs, or name"),
        Option("--baseline BASE", "cases", "what is in use: a log, or a name"),
        Option("--margin POINTS", "compare gate", "the difference, or loss, that matters"),
        Option("--recovery SHARE", "compare gate", "of the baseline's score, to be kept"),
        Option("--on all|total", "gate", "what decides: all, or of tasks the total (default: all)"),
        Option("--difference POINTS", "power", "a true difference"),
        Option("--segments N", "power", "of the plan, or groups (default: the pilot's)",
               "n_segments"),
        Option("--trials N", "power", "answers to each item that are planned"),
        Option("--price ITEM,TRIAL", "power", "items or trials? what each costs: the cheapest"),
        Option("--power LEVEL", "power", "target (default: 0.8)"),
        Option("--composite autorank|borda", "rank", "one ranking of all metrics"),
        Option("--test bootstrap|t|ar", "compare", "default: bootstrap"),
        Option("--method bootstrap|percentile|bca|t|simultaneous", "compare",
               "of intervals (default: bootstrap)"),
        Option("--method bootstrap|percentile|bca|t", "estimate rank",
               "of intervals (default: bootstrap)"),
        Option("--alternative two-sided|greater|less", "compare power", "default: two-sided"),
        Option("--adjustment, --adjust max-t|holm|benjamini-hochberg|none", "compare",
               "default: max-t"),
        Option("--adjustment, --adjust max-t|holm", "rank", "default: max-t"),
        Option("--adjust-over pairs|metrics", "compare",
               "one family a metric, or of all (default: pairs)"),
        Option("--contrast difference|ratio|log-ratio", "compare", "default: difference"),
        Option("--confidence-level LEVEL", f"{_SCORED} power cases",
               "default: 0.95; verdicts are at 1 - LEVEL"),
        Option("--significance-level LEVEL", "power gate",
               "how often one test may be wrong (default: 0.05)"),
        Option("--of N", "gate", "items, or groups, planned at most: a look at those so far"),
        Option("--looks N", "gate", "how many looks are planned (default: 8)"),
        Option("--state FILE", "gate", "JSON of all looks so far, as items come in; with --of N"),
        Option("--undecided pass|fail", "gate", "what it counts as: exit with 0 or 1, not with 3"),
        Option("--paired-bs-n N", "audit", "sacreBLEU's resamples (default: 1,000)", "n_bootstrap"),
        Option("--paired-ar-n N", "audit", "its trials (default: 10,000)", "n_randomization"),
        Option("--resamples N", _DRAWN, "default: 9,999", "n_resamples"),
        Option("--seed N", _DRAWN, "default: 12345", "rng"),
    ],
    "output": [
        Option("-o, --output FILE", _PRINTED.replace("gate ", ""), _OUTPUT, again=True),
        Option("-o, --output FILE", "gate", f"{_OUTPUT} xml", again=True),
        Option("-o, --output FILE.npz", "extract", "where to"),
        Option(f"-f, --format {_FORMS}", _PRINTED.replace("gate ", ""), "default: as -o, or text"),
        Option(f"-f, --format {_FORMS}|junit", "gate", "default: as -o, or text"),
        Option("--verbose", f"{_SCORED} power gate show cases demo", "all notes and signatures"),
        Option("--describe", "compare estimate demo", "print the sentence for a method section"),
        Option("--matrix", "compare", "all pairs of many systems"),
        Option("--files FOLDER", "demo", "write the files of the pages there, and no table"),
        Option("--digits N", _PRINTED, "decimals of scores (default: two of the smallest error)"),
        Option("--layout paper", "compare estimate demo",
               "a row a system, a column a metric, the best in bold, marks of significance"),
        Option("--caption TEXT", _PRINTED, "of LaTeX, then a float; the title of a report"),
        Option("--label NAME", _PRINTED, "likewise, for \\ref"),
    ],
}  # fmt: skip
#: Options of battles alone, by name.
OF_BATTLES = ("scale", "ties")
RARE = {
    *(
        "--filter",
        "--missing",
        "--epochs",
        "--allow-changes",
        "--human",
        "--scale",
        "--ties",
        "--columns",
        "--lower-is-better",
        "--higher-is-better",
    ),
    *("-t", "-l", "--scores", "--strata", "--by", "--over", "--aggregate", "--alternative"),
    *("--test", "--method", "--adjustment", "--adjust-over", "--matrix", "--layout", "--digits"),
    *("--contrast", "--caption", "--label", "--of", "--looks", "--undecided"),
    *("--unpaired", "--paired-runs"),
}


def options_of(command: str) -> dict[str, list[Option]]:
    """Return the options of a command by heading."""
    found = {
        heading: [option for option in options if command in option.commands.split()]
        for heading, options in OPTIONS.items()
    }
    return {heading: options for heading, options in found.items() if options}


_FLAGS = {option.name: option.flags[0] for some in OPTIONS.values() for option in some}


def flag_of(name: str) -> str:
    """Return the flag of an option from its name; metrics have some that are not here."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")
