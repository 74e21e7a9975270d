"""What pytest must not import where the framework that it is for is not installed."""

from importlib.util import find_spec

NEEDS = {"torch": "torch", "transformers": "transformers", "lightning": "lightning"}
collect_ignore = [
    f"evalstats/integrations/{module}.py"
    for module, package in NEEDS.items()
    if find_spec(package) is None
]
