"""The pages of `import tandem`: what Sphinx is to make of the docstrings, in which order."""

import inspect
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import tandem
import tandem.ros
import tandem.transports

from tests.tools.docs.markdown import section


def write(folder: Path) -> None:
    """Write the page of a script's API, and that of what other packages may add."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("api", script_page()), ("doors", doors_page())):
        (folder / f"{name}.md").write_text(text, "utf-8")


def script_page() -> str:
    """Return the page of all of `tandem.__all__`, by kind."""
    kinds = {"Functions": [], "Classes": [], "Errors and warnings": []}
    for name in tandem.__all__:
        thing = getattr(tandem, name)
        is_error = inspect.isclass(thing) and issubclass(thing, (Exception, Warning))
        kind = "Errors and warnings" if is_error else "Classes"
        kinds["Functions" if inspect.isfunction(thing) else kind].append(name)
    return section(
        1,
        "Python API: import tandem",
        "Made of the docstrings. Examples are in [drive from a script]"
        "(../host_bridge/api/README.md).",
        *(section(2, title, _directives("tandem", names)) for title, names in kinds.items()),
    )


def doors_page() -> str:
    """Return the page of `tandem.transports` and `tandem.ros`."""
    return section(
        1,
        "Python API for packages of yours",
        "What inputs and stop sources are made of is in [import tandem](api.md); how each is added "
        "is in [doors](../host_bridge/api/README.md#doors-what-other-packages-may-add).",
        *(
            section(2, module.__name__, _directives(module.__name__, _public(module)))
            for module in (tandem.transports, tandem.ros)
        ),
    )


def _public(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None) or [it for it in vars(module) if it[0] != "_"]
    return list(names)


def _directives(module: str, names: Iterable[str]) -> str:
    found = (_directive(module, name) for name in names)
    return "```{eval-rst}\n" + "\n".join(found) + "```"


def _directive(module: str, name: str) -> str:
    thing = getattr(import_of(module), name)
    if inspect.isclass(thing):
        options = [":members:", ":show-inheritance:"]
        if not issubclass(thing, (Exception, int)):
            options.append(":inherited-members:")
        kind = "autoclass"
    else:
        options, kind = [], "autofunction" if inspect.isroutine(thing) else "autodata"
    return "\n".join([f".. {kind}:: {module}.{name}", *(f"   {it}" for it in options), "", ""])


def import_of(module: str) -> ModuleType:
    """Return one of the modules above by its name."""
    return {it.__name__: it for it in (tandem, tandem.transports, tandem.ros)}[module]
