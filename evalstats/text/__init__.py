"""Strings to integers to counts, for a whole corpus at once, independently of any metric.

- `references`: texts and references as users give them, one entry per segment; columns and frames
  of pandas and polars; recognition of sacreBLEU's layout
- `tokenization`: sacreBLEU's tokenisers, for a corpus at once or line by line; code points; whether
  texts are empty, tokenised, and in which language
- `porter`: the stemmer of ROUGE
- `ragged`: rows of unequal length
- `ids`: one integer for equal tokens, also if segments are already tokenised
- `ngrams`: n-gram counts and clipped matches
- `levenshtein`: edit distances and common subsequences of many pairs at once
- `tercom`: the edits of TER, with its shifts

May import `checks` and `errors`.
"""
