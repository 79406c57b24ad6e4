"""An answer in a notebook: one table and one chart, without scripts, links or a server."""

from __future__ import annotations

from html import escape
from typing import Any, List, Optional

_COLOURS = {"GROWING": "#c4320a", "RISING": "#c4320a", "NEW": "#c4320a", "broken": "#c4320a"}
_WIDTH, _HEIGHT, _LEFT = 560, 120, 70  # pixels of the chart; room for the axis' texts
_ROWS = 10  # of the table of stacks


def size(value: Optional[float], unit: str = "bytes", signed: bool = True) -> str:
    """"+5.79 MiB"; three digits."""
    if value is None:
        return ""
    sign = "-" if value < 0 else "+" if signed and value > 0 else ""
    rest = abs(value)
    if unit != "bytes":
        return f"{sign}{rest:.0f} {unit}"
    if rest < 1024:
        return f"{sign}{rest:.0f} B"
    for name in ("KiB", "MiB", "GiB", "TiB"):
        rest /= 1024
        if rest < 1024 or name == "TiB":
            break
    return f"{sign}{rest:.{2 if rest < 9.995 else 1 if rest < 99.95 else 0}f} {name}"


def _chart(values: List[int], unit: str) -> str:
    """Totals over the snapshots as a line of SVG."""
    if len(values) < 3:
        return ""
    low, high = min(0, *values), max(1, *values)
    x = [_LEFT + i * (_WIDTH - _LEFT - 8) / (len(values) - 1) for i in range(len(values))]
    y = [8 + (_HEIGHT - 28) * (high - value) / (high - low) for value in values]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    zero = 8 + (_HEIGHT - 28) * high / (high - low)
    return (f'<svg role="img" aria-label="total of {len(values)} snapshots" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
            f' font-size="11" fill="currentColor"><polyline points="{points}" fill="none" stroke="#c4320a" stroke-width="2"/>'
            f'<line x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="currentColor" stroke-opacity=".4"/>'
            f'<text x="{_LEFT - 6}" y="14" text-anchor="end">{size(high, unit, False)}</text>'
            f'<text x="{_LEFT - 6}" y="{zero:.1f}" text-anchor="end">0</text>'
            f'<text x="{_LEFT}" y="{_HEIGHT - 4}">1</text>'
            f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 4}" text-anchor="end">snapshot {len(values)}</text></svg>')


_NUMBERS = {"growth", "share", "before", "after"}  # columns to the right; notebooks put all of them there


def _table(head: List[str], rows: List[List[str]]) -> str:
    sides = [f' style="text-align:{"right;white-space:nowrap" if text in _NUMBERS else "left"}"' for text in head]
    cells = "".join(f"<th{side}>{escape(text)}</th>" for text, side in zip(head, sides))
    body = "".join("<tr>" + "".join(f"<td{side}>{cell}</td>" for cell, side in zip(row, sides)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _label(text: str) -> str:
    return f'<b style="color:{_COLOURS[text]}">{escape(text)}</b>' if text in _COLOURS else escape(text)


def html(answer: Any) -> str:
    """Headline, chart, culprits, and the rows that changed most."""
    unit = answer.unit
    culprits = [[_label(one.label), f"<code>{escape(one.name)}</code>", escape(one.place), size(one.growth, unit), f"{one.share:.0%}",
                 escape(one.pace)] for one in answer.culprits]
    rows = [[size(row["growth"], unit), size(row["before"], unit, False), size(row["after"], unit, False),
             escape(row.get("verdict") or row["class"] or ""),
             "<code>" + escape(" ‹ ".join(row["stack"][:4]) or row["name"]) + "</code>"] for row in answer.rows.to_list(_ROWS)]
    parts = [f"<p><b>{escape(answer.headline)}</b>: {escape(answer.figures)}</p>", _chart(answer.trend.to_dict()["total"], unit)]
    if hasattr(answer, "findings"):
        parts.insert(0, f"<p>gate: <b>{escape(answer.result)}</b></p>")
    if culprits:
        parts.append(_table(["verdict", "function", "file", "growth", "share", "pace"], culprits))
    parts += [f"<p>{escape(text)}</p>" for text in (answer.no_culprit, answer.no_verdict) if text]
    parts.append(_table(["growth", "before", "after", "", "stack (leaf first)"], rows))
    return '<div class="snapdiff">' + "".join(parts) + "</div>"
