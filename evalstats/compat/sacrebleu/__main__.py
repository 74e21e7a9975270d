"""``python -m evalstats.compat.sacrebleu``: sacreBLEU's command line.

A paired test (`--paired-bs`, `--paired-ar`) is read, checked and printed by sacreBLEU; metrics and
p-values come from our `PairedTest`. Everything else is sacreBLEU's own.
"""

import sys
from importlib import import_module
from typing import Any

from evalstats.compat.sacrebleu import metrics, significance
from evalstats.errors import InputError


def main() -> None:
    """Run sacreBLEU's command line with the arguments of the process."""
    theirs: Any = import_module("sacrebleu.sacrebleu")
    sys.argv[0] = "sacrebleu"  # the program name that it prints
    args = theirs.parse_args()
    if args.paired_bs or args.paired_ar:
        theirs.METRICS = metrics.METRICS
        vars(import_module("sacrebleu.significance"))["PairedTest"] = significance.PairedTest
    try:
        theirs.main()
    except InputError as error:
        sys.exit(f"sacreBLEU: {error}")


if __name__ == "__main__":
    main()
