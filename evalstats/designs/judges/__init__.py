"""A judge's scores of all segments, corrected by people's labels of some."""
