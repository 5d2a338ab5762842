"""The parts of which the report's page is made: its style, tables and rows."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from host_bridge.drive.lockstep.campaign.judging.intervals import Share

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 } caption { text-align: left; padding: .3rem 0 }
th, td { border: 1px solid #8888; padding: .25rem .6rem; text-align: left }
.good { background: #2a92 } .fair { background: #ca02 } .bad { background: #d332 }
code { overflow-wrap: anywhere }
"""


def table(caption: str, head: Iterable[str], rows: Iterable[str]) -> str:
    """Return a table; its rows are HTML already."""
    heads = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>"
        + "\n".join(rows)
        + "</tbody></table>"
    )


def table_row(*values: Any) -> str:
    """Return a row of a table, each value as text."""
    return "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in values) + "</tr>"


def command_row(command: str, *values: Any) -> str:
    """Return a row whose last column is a command to be copied."""
    return table_row(*values).replace("</tr>", f"<td><code>{escape(command)}</code></td></tr>")


def shown(it: Share) -> str:
    """Return an interval in per cent; "nothing judged" without cases."""
    return f"{it.low:.1%} to {it.high:.1%}" if it.total else "nothing judged"
