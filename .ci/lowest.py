"""Print the lowest versions that pyproject.toml names, as constraints for `pip install -c`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, where pytest brings it
    import tomli as tomllib

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?(?:>=([\w.]+))?(?=$|;)")


def lowest(project: Mapping[str, Any], extra: str) -> list[str]:
    """Return "numpy==2.0" for "numpy>=2.0", of what a project with an extra of it requires."""
    waiting, found = [*project["dependencies"], f"{project['name']}[{extra}]"], set()
    while waiting:
        requirement = waiting.pop()
        match = _REQUIREMENT.match(requirement.replace(" ", ""))
        name, extras, version = match.groups() if match else ("", None, None)
        if name == project["name"] and extras:
            for each in extras.split(","):
                waiting += project["optional-dependencies"][each]
        elif version:
            found.add(f"{name}=={version}")
        else:
            raise ValueError(f"{requirement!r} should name its lowest version, with >=")
    return sorted(found)


if __name__ == "__main__":
    path = Path(__file__).resolve().parents[1] / "pyproject.toml"
    with path.open("rb") as file:
        print(*lowest(tomllib.load(file)["project"], "test"), sep="\n")
