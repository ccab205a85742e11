"""How figures and pages are drawn: style, text, formulas, SVG and HTML."""
