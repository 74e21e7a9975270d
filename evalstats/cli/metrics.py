"""Options of metrics, under sacreBLEU's names, and the metrics that they make."""

from __future__ import annotations

import argparse
from dataclasses import Field, fields
from typing import Any, get_args, get_type_hints

from evalstats.checks import shown
from evalstats.cli.flags import Option, flag_of
from evalstats.errors import InputError
from evalstats.metrics import BLEU, BUILT_IN, NAMED, Metric, written
from evalstats.metrics.bleu import BUNDLED_TOKENIZERS
from evalstats.metrics.smoothing import NAMED as NAMED_SMOOTHING

#: sacreBLEU's short forms of options.
_SHORT = {
    "tokenize": "-tok",
    "lowercase": "-lc",
    "smooth_method": "-s",
    "smooth_value": "-sv",
    "chrf_char_order": "-cc",
    "chrf_word_order": "-cw",
}
#: sacreBLEU's, which takes time to ask.
TOKENIZERS = (
    *(*BUNDLED_TOKENIZERS, "ja-mecab", "ko-mecab"),
    *("spm", "flores101", "flores200", "spBLEU-1K"),
)
#: How a value is typed, by its type.
_VALUES = {bool: "", int: "N", float: "NUMBER", str: "NAME"}


def _options_of(kind: type[Any]) -> dict[str, Field[Any]]:
    """Return the fields of a metric under the names of their options; BLEU's have no prefix."""
    prefix = "" if kind is BLEU else f"{kind.__name__.lower()}_"
    return {
        prefix + field.name: field
        for field in fields(kind)
        # What the name of the metric says.
        if not field.metadata.get("by_name")
    }


#: The metrics that read text, and the options of each.
METRIC_OPTIONS = {kind: _options_of(kind) for kind in BUILT_IN if kind.reads_text}


def metric_options() -> list[Option]:
    """Return an option for each field of each metric."""
    found = []
    for kind, options in METRIC_OPTIONS.items():
        types = get_type_hints(kind)
        for option, field in options.items():
            # Of "float | None", the first is what a value is read as.
            of_value = (*get_args(types[field.name]), types[field.name])[0]
            value = "|".join(field.metadata.get("choices", ())) or _VALUES[of_value]
            flags = [_SHORT[option]] if option in _SHORT else []
            help = f"of BLEU: {' '.join(TOKENIZERS)}" if option == "tokenize" else ""
            typed = f"{', '.join([*flags, flag_of(option)])} {value}".rstrip()
            found.append(Option(typed, "", help))
    return found


def metrics_of(options: argparse.Namespace) -> list[Metric]:
    """Make the metrics, each with its own options; one that would have no effect is an error."""
    names = [written(name) for name in options.metrics or ["bleu"]]
    for name in names:
        several = name.split(",")
        if len(several) > 1 and set(map(written, several)) <= set(NAMED):
            spaced = " ".join(map(written, several))
            raise InputError(
                f"takes names with spaces between them: -m {spaced}", argument="metrics"
            )
        if name not in NAMED:
            raise InputError(
                f"must be one of {', '.join(NAMED)}; got {shown(name, 60)}. Scores from elsewhere, "
                f"one a segment, go as --scores, or alone as a table",
                argument="metrics",
            )
    given = _given(options, {NAMED[name].func for name in names})
    metrics: list[Metric] = []
    for name in names:
        make = NAMED[name]
        kind: Any = make.func
        asked = given[kind]
        for field, value in make.keywords.items():
            if asked.get(field, value) != value:
                flag = flag_of(f"{kind.__name__.lower()}_{field}")
                raise InputError(f"{flag} {asked[field]} contradicts -m {name}, which has {value}")
        try:
            metric = make(**asked)
        except InputError as error:
            option_of = {field.name: name for name, field in METRIC_OPTIONS[kind].items()}
            error.argument = option_of.get(str(error.argument), error.argument)
            raise
        if metric in metrics:
            raise InputError(f"-m must name different metrics, got {' '.join(names)}")
        metrics.append(metric)
    return metrics


def _given(options: argparse.Namespace, kinds: set[Any]) -> dict[Any, dict[str, Any]]:
    """Return the options that were given of each of these kinds of metrics; there are no others."""
    given: dict[Any, dict[str, Any]] = {kind: {} for kind in kinds}
    for kind, taken in METRIC_OPTIONS.items():
        for option, field in taken.items():
            if (value := getattr(options, option)) is not None:
                if kind not in given:
                    metric = next(name for name, make in NAMED.items() if make.func is kind)
                    raise InputError(f"{flag_of(option)} has no effect without -m {metric}")
                given[kind][field.name] = value
    if BLEU in given:
        _check_bleu(given[BLEU], options.language_pair)
    return given


def _check_bleu(bleu: dict[str, Any], language_pair: str | None) -> None:
    """Add the language of the texts; refuse what contradicts it, and a value without a method."""
    if language_pair is not None:
        target = language_pair.partition("-")[2]
        if bleu.setdefault("trg_lang", target) != target:
            raise InputError(f"--trg-lang {bleu['trg_lang']} contradicts -l {language_pair}")
    method = bleu.get("smooth_method", BLEU.smooth_method)
    if "smooth_value" in bleu and NAMED_SMOOTHING[method].value is None:
        raise InputError(
            f"--smooth-value has no effect with --smooth-method {method}; give floor or add-k"
        )
