"""``python -m evalstats.compat.sacrebleu``: the command line of `sacrebleu`."""

from evalstats.compat.sacrebleu.sacrebleu import main

if __name__ == "__main__":
    main()
