"""The test sets that sacreBLEU knows: files of their references."""

from __future__ import annotations

from pathlib import Path

from evalstats.errors import InputError


def test_set_files(test_set: str, langpair: str) -> list[str]:
    """Return the reference files of one of sacreBLEU's test sets; downloads what is not cached."""
    from sacrebleu import utils
    from sacrebleu.dataset import DATASETS

    if test_set not in DATASETS:
        raise InputError(
            f"test set {test_set!r} is not one of sacreBLEU's; `sacrebleu --list` prints them"
        )
    pairs = sorted(DATASETS[test_set].langpairs)
    if langpair not in pairs:
        raise InputError(
            f"language pair {langpair!r} is not in {test_set}; it has {', '.join(pairs)}"
        )
    try:
        files: list[str] = utils.get_reference_files(test_set, langpair)
    # sacreBLEU ends the process when a download fails its checks.
    except (OSError, SystemExit) as error:
        # Without a network the texts may still be there, though not what they were made from.
        cache = Path(utils.SACREBLEU_DIR, test_set)
        pattern = f"{test_set.replace('/', '_')}.{langpair}.ref*"
        files = sorted(str(path) for path in cache.glob(pattern))
        if not files:
            raise InputError(
                f"test set {test_set}/{langpair} is not cached and could not be downloaded: {error}"
            ) from error
    if not files:
        raise InputError(f"test set {test_set}/{langpair} has no references")
    return files
