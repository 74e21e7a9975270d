"""What is measured on: WMT22 en-de where its files are at hand, else the bundled sample."""

from __future__ import annotations

from pathlib import Path

from evalstats.data import load_sample

WMT = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt22"


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8").split("\n")[:-1]


def corpus(pair: str = "en-de") -> tuple[str, dict[str, list[str]], list[str]]:
    """Return a label, the outputs by system, and one reference per segment."""
    folder = WMT / pair
    if folder.is_dir():
        systems = {path.stem: _lines(path) for path in sorted(folder.glob("systems/*.txt"))}
        return f"WMT22 {pair}", systems, _lines(folder / "reference.A.txt")
    sample = load_sample()
    return "bundled sample", sample.systems, [first for first, _ in sample.references]
