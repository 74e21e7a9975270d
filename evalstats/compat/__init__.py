"""Drop-in replacements: the peers by their own module paths, with the import changed.

- `sacrebleu`: metrics, significance tests, functions and command line of sacreBLEU
- `evaluatio`: metrics, intervals, tests and effect sizes of evaluatio
- `nltk`: `nltk.translate.bleu_score`
- `axion`: axion's SentenceBleu and LevenshteinRatio, its items and its runner
- `futureagi`: Future AGI's BLEUScore

May import every room but `training`.
"""
