"""`sacrebleu.sacrebleu`: `main` and `parse_args` of its command line, paired tests computed here.

sacreBLEU's module is loaded when asked for, because loading it changes how the process handles
SIGPIPE.
"""

import sys
from importlib import import_module
from types import FunctionType
from typing import Any

from evalstats.compat.sacrebleu.metrics import METRICS
from evalstats.errors import InputError


def main() -> None:
    """Run sacreBLEU's command line with the arguments of the process.

    A paired test (`--paired-bs`, `--paired-ar`) is read, checked and printed by sacreBLEU; metrics
    and p-values are those of our `PairedTest`. Everything else is sacreBLEU's own.
    """
    theirs: Any = import_module("sacrebleu.sacrebleu")
    args = theirs.parse_args()
    if not (args.paired_bs or args.paired_ar):
        theirs.main()
        return
    # sacreBLEU's function, which finds our classes by the names of its own: the metrics among its
    # globals, and PairedTest by a relative import.
    package = {"__package__": __package__, "__spec__": None}
    try:
        FunctionType(theirs.main.__code__, {**vars(theirs), "METRICS": METRICS, **package})()
    except InputError as error:
        sys.exit(f"sacreBLEU: {error}")


def __getattr__(name: str) -> Any:
    if name != "parse_args":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("sacrebleu.sacrebleu").parse_args
