"""Speed and calibration, measured against the alternatives in the same run."""
