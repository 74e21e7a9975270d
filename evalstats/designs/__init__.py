"""How data come about: a file or a folder each, with all that belongs to it.

- `runs`: several runs of each system (training seeds), side by side
- `trials`: several answers to each item
- `raters`: several people's labels of each item, and how far they agree beyond chance
- `judges`: a judge's scores of all segments, people's of some
- `arenas`: battles, of which only is known who won
- `unpaired`: systems that each have segments of their own
- `crossed`: two labels a segment, such as the prompt and the rater
- `meta`: metrics in the place of systems, held against people's scores
- `swaps`: approximate randomisation: outputs of two systems change places
- `moments`: a corpus in many places, or in a database, summed
- `summed`: units that are elsewhere, of which sums of squares and products are known
- `plans`: systems that were run on a drawn part of the items
- `one_sample`: one system against a fixed number
- `arrivals`: the items of an evaluation that grows, and whether their order is chance
- `spending`: the level of each look at an evaluation that grows
- `states`: what a test that goes on keeps between two looks

May import the core, and `summed`.
"""
