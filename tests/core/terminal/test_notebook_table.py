"""Tables for notebooks: rows, what is folded away, and text that stays text."""

from netwright.core.terminal.notebook_table import notebook_folded, notebook_list, notebook_table


def test_rows_have_the_columns_of_the_first() -> None:
    shown = notebook_table(
        "splits", [{"split": "train", "rows": "3"}, {"split": "val", "rows": "1"}]
    )
    assert shown.startswith("<div><b>splits</b><table>")
    assert shown.count("<th") - shown.count("<thead") == 2
    assert shown.count("<td") == 4
    assert notebook_table("nothing", []) == "<div><b>nothing</b></div>"


def test_what_is_folded_says_how_much_it_is() -> None:
    assert "<summary>2 defaults</summary>" in notebook_folded("defaults", [{"a": "1"}, {"a": "2"}])
    assert notebook_folded("defaults", []) == ""


def test_text_of_data_stays_text() -> None:
    odd = "<script>\x1b"
    for shown in (notebook_table(odd, [{odd: odd}]), notebook_list([odd])):
        assert "<script>" not in shown
        assert "&lt;script&gt;\\x1b" in shown
    assert notebook_list([]) == ""
