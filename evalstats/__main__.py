"""`python -m evalstats` is the command line."""

from evalstats.cli import run

if __name__ == "__main__":
    run()
