"""Look inside models and runs: numbers measured once, the figures that draw them, and one page."""

from netwright.inspection.page import Page as Page
from netwright.inspection.view import View as View
