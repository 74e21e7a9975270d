"""Systems that were run on a drawn part of the items: what the others would have added to sums."""
