"""Strings to integers to counts, for a whole corpus at once; this room knows no metric.

- `references`, `reference_layout`, `frames`: texts and references as users give them, one entry a
  segment; sacreBLEU's layout, recognised; columns and frames of pandas and polars
- `tokenization`, `sacrebleu`: sacreBLEU's tokenisers, for a corpus at once or line by line
- `characters`, `ragged`, `ids`: code points, rows of unequal length, one integer for equal tokens,
  also of segments that are tokenised already
- `ngrams`, `ngram_index`: n-gram counts and clipped matches
- `bit_rows`, `levenshtein`, `lcs`: edit distances and common subsequences of many pairs at once
- `porter`: the stemmer of ROUGE
- `tercom`: the edits of TER, with its shifts

May import `checks` and `errors`.
"""
