"""A table written by a program stands between its markers, and nothing else of a page changes."""

import re

import pytest

from simulations.__main__ import NAMES, main
from simulations.page import DOCS, markers, with_part


def test_what_was_between_the_markers_is_replaced():
    first, last = markers("coverage")
    page = f"# Page\n\n{first}\n{last}\n\nThe rest.\n"
    once = with_part(page, "| a |\n", name="coverage")
    assert once == f"# Page\n\n{first}\n| a |\n{last}\n\nThe rest.\n"
    assert with_part(once, "| b |", name="coverage") == once.replace("| a |", "| b |")


@pytest.mark.parametrize("page", ["# Page\n", f"{markers('adaptive')[0]}\n"])
def test_a_page_without_the_markers_is_refused(page):
    with pytest.raises(ValueError, match="adaptive"):
        with_part(page, "| a |", name="adaptive")


def test_the_pages_have_markers_of_simulations_that_there_are():
    named = {
        name
        for page in DOCS.rglob("*.md")
        for name in re.findall(r"python -m simulations (\w+) --page` -->", page.read_text("utf-8"))
    }
    assert named <= set(NAMES)


def test_a_simulation_is_run_by_name(capsys):
    main(["coverage", "--leagues", "3", "--seed", "12"])
    assert capsys.readouterr().out.startswith("3 leagues of each kind, seed 12.")
