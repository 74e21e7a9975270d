"""An evaluation that is looked at while it grows, at one error level for all looks."""
