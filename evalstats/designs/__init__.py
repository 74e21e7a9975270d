"""Designs of data, one file or folder each, with everything that belongs to it.

- `runs`: several runs of each system (training seeds), side by side
- `trials`: several answers to each item
- `raters`: several raters' labels of each item, and their agreement beyond chance
- `judges`: a judge's scores of all segments, people's labels of some
- `arenas`: battles: pairwise preferences between systems
- `samples`: systems that each have their own segments, and one system against a number
- `units`: two labels per segment, such as the prompt and the rater; units elsewhere, known by their
  sums
- `meta`: metrics instead of systems, compared with human labels
- `swaps`: approximate randomisation: outputs of two systems are exchanged
- `moments`: sums of a corpus in many places, or in a database
- `plans`: systems that were run on a sampled subset of the items
- `arrivals`: an evaluation that grows: its items, whether their order is random, its state
- `spending`: the level of each look at an evaluation that grows

May import the core, and `units`.
"""
