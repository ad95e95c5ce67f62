"""The colours, type and spaces of the workbench, by name: each colour has a value for light and one for dark pages.

The page that every view begins with declares them as CSS variables (`style_sheet`). HTML that may also be shown
elsewhere, such as in a notebook, names a variable with its value (`token`), so it needs no style sheet.
"""

from collections.abc import Mapping

COLOURS: Mapping[str, tuple[str, str]] = {
    "page": ("#F6F7F9", "#101216"),
    "surface": ("#FFFFFF", "#181B21"),
    "sunk": ("#EEF0F4", "#242932"),
    "line": ("#E2E5EA", "#2B303A"),
    "line-strong": ("#C8CDD6", "#434A57"),
    "ink": ("#171A21", "#ECEEF2"),
    "ink-2": ("#474E5C", "#BCC2CD"),
    "ink-3": ("#646B79", "#949BA9"),
    "left": ("#5361D1", "#8F9BFF"),
    "left-ink": ("#4452B8", "#A9B2FF"),
    "left-soft": ("#E3E6FA", "#2A2E4D"),
    "right": ("#C27708", "#E0A03C"),
    "right-ink": ("#8F5300", "#EDB55C"),
    "right-soft": ("#FBEBD0", "#46341A"),
    "accent": ("#0F766E", "#148077"),
    "accent-ink": ("#0B5F58", "#58C9BD"),
    "bad": ("#B3261E", "#FF8A80"),
}
"""`left` is the negative pole, `right` the positive one. `accent` is for the primary action and for what is in use."""

SYSTEM: Mapping[str, str] = {
    **dict.fromkeys(("page", "surface"), "Canvas"),
    "sunk": "color-mix(in srgb, CanvasText 12%, Canvas)",
    "left-soft": "color-mix(in srgb, Highlight 30%, Canvas)",
    "right-soft": "color-mix(in srgb, CanvasText 30%, Canvas)",
    **dict.fromkeys(("line", "line-strong", "ink", "ink-2", "ink-3", "right", "right-ink", "bad"), "CanvasText"),
    **dict.fromkeys(("left", "left-ink", "accent", "accent-ink"), "Highlight"),
}
"""The colour of a person's own contrast theme that stands for each (CSS Color 4, "System Colors")."""

TYPE: Mapping[str, str] = {
    "note": "12px/16px",
    "small": "13px/20px",
    "body": "14px/22px",
    "lead": "16px/24px",
    "text": "20px/30px",
    "answer": "28px/36px",
}
"""Size and line height."""

SPACES = (4, 8, 12, 16, 24, 32, 48, 64)
"""In pixels; `--tb-space-1` is the smallest."""


def token(name: str) -> str:
    """The CSS value of a colour, which also holds where the variables are not declared; raise `KeyError` if unknown."""
    light, dark = COLOURS[name]
    return f"var(--tb-{name}, light-dark({light}, {dark}))"


def style_sheet() -> str:
    """The CSS that declares all of them."""
    rules = [f"--tb-{name}: light-dark({light}, {dark});" for name, (light, dark) in COLOURS.items()]
    rules += [f"--tb-type-{name}: {size};" for name, size in TYPE.items()]
    rules += [f"--tb-space-{step}: {pixels}px;" for step, pixels in enumerate(SPACES, 1)]
    forced = " ".join(f"--tb-{name}: {colour};" for name, colour in SYSTEM.items())
    return f":root {{ {' '.join(rules)} }}\n@media (forced-colors: active) {{ :root {{ {forced} }} }}\n"
