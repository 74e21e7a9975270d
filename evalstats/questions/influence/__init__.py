"""Which segments make a difference; claims about several metrics at once."""
