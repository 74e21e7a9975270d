"""Strings to integers to counts, for a whole corpus at once; this room knows no metric.

- `references`: texts and references as users give them, one entry a segment; columns and frames of
  pandas and polars; sacreBLEU's layout, recognised
- `tokenization`: sacreBLEU's tokenisers, for a corpus at once or line by line; code points; what
  texts look like: in which language, tokenised, empty
- `porter`: the stemmer of ROUGE
- `ragged`: rows of unequal length
- `ids`: one integer for equal tokens, also of segments that are tokenised already
- `ngrams`: n-gram counts and clipped matches
- `levenshtein`: edit distances and common subsequences of many pairs at once
- `tercom`: the edits of TER, with its shifts

May import `checks` and `errors`.
"""
