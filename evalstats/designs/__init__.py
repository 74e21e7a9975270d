"""How data come about: a file or a folder each, with all that belongs to it.

- `runs`: several runs of each system (training seeds), side by side
- `trials`: several answers to each item
- `raters`: several people's labels of each item, and how far they agree beyond chance
- `judges`: a judge's scores of all segments, people's of some
- `arenas`: battles, of which only is known who won
- `samples`: systems that each have segments of their own, and one system against a number
- `units`: two labels a segment, such as the prompt and the rater; units that are elsewhere, of
  which sums are known
- `meta`: metrics in the place of systems, held against people's scores
- `swaps`: approximate randomisation: outputs of two systems change places
- `moments`: a corpus in many places, or in a database, summed
- `plans`: systems that were run on a drawn part of the items
- `arrivals`: an evaluation that grows: its items, whether their order is chance, its state
- `spending`: the level of each look at an evaluation that grows

May import the core, and `units`.
"""
