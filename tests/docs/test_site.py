"""What the documentation site is made of. That it builds without warnings is for `make docs`."""

import importlib.util
import re
from pathlib import Path, PurePosixPath

import pytest

from tools.docstrings import markdown_of
from tools.documentation import (
    foreign,
    linked,
    navigation,
    place,
    summary,
    unbroken,
    write_pages,
)

ROOT = Path(__file__).resolve().parents[2]


def test_every_page_is_in_the_navigation_and_nothing_else_is() -> None:
    named = navigation()
    settings = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    assert [name for name in named if settings.count(f'"{name}"') != 1] == []
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    modules = [name for name in named if name.startswith("api/")]
    assert set(named) - set(modules) == pages | {"index.md", "contributing.md", "changelog.md"}
    for name in modules:
        assert importlib.util.find_spec(PurePosixPath(name).stem), name


def test_the_table_of_the_readme_has_the_same_pages_in_the_same_order() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.split("| page | for |\n", 1)[1]
    order = dict.fromkeys(re.findall(r"\]\(docs/([\w-]+\.md)", table))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    assert list(order) == [name for name in navigation() if name in pages]


@pytest.mark.parametrize(
    ("file", "there"),
    [
        ("README.md", "index.md"),
        ("docs/rules.md", "rules.md"),
        ("docs/decisions/README.md", "decisions/README.md"),
        ("examples/python-raw/README.md", "repository/examples/python-raw/README.md"),
        ("a/schema.json", "repository/a/schema.json.md"),
        ("proto/hokm/v1", "repository/proto/hokm/v1.md"),
    ],
)
def test_each_file_has_one_place_on_the_site(file: str, there: str) -> None:
    assert place(PurePosixPath(file)) == PurePosixPath(there)


@pytest.mark.parametrize(
    ("file", "link", "there"),
    [
        ("docs/submit.md", "../README.md#a-bot", "index.md#a-bot"),
        ("docs/submit.md", "rules.md#options", "rules.md#options"),
        ("docs/submit.md", "#here", "#here"),
        ("docs/submit.md", "https://example.org/a.md", "https://example.org/a.md"),
        ("docs/protocol.md", "../proto/hokm/v1/", "repository/proto/hokm/v1.md"),
        ("README.md", "docs/rules.md", "rules.md"),
        ("docs/decisions/0001.md", "../rules.md", "../rules.md"),
        ("examples/raw/README.md", "../../docs/rules.md", "../../../rules.md"),
    ],
)
def test_a_link_leads_to_the_same_on_the_site(file: str, link: str, there: str) -> None:
    assert linked(f"[a]({link})", file=PurePosixPath(file), names={})[0] == f"[a]({there})"


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("[rules.md](rules.md#options)", "[The rulebook](rules.md#options)"),
        ("[the rules](rules.md)", "[the rules](rules.md)"),
        ("[luck.md](luck.md)", "[luck.md](luck.md)"),
        ("[luck.md](rules.md)", "[luck.md](rules.md)"),
    ],
)
def test_a_link_named_for_its_file_has_the_name_of_the_page(text: str, there: str) -> None:
    names = {"rules.md": "The rulebook", "luck.md": None}
    assert linked(text, file=PurePosixPath("docs/a.md"), names=names)[0] == there


def test_code_has_no_links() -> None:
    text = "```python\nx[0](../README.md)\n```\n"
    assert linked(text, file=PurePosixPath("docs/a.md"), names={}) == (text, set())


def test_a_comment_stands_alone_so_that_a_table_below_it_is_one() -> None:
    text = "A.\n\n<!-- made -->\n| a |\n|---|\n<!-- made -->\n"
    assert linked(text, file=PurePosixPath("docs/a.md"), names={})[0] == (
        "A.\n\n\n<!-- made -->\n\n| a |\n|---|\n\n<!-- made -->\n\n"
    )


def test_a_link_out_of_the_repository_is_refused() -> None:
    with pytest.raises(ValueError, match=r"docs/a\.md: \.\./\.\./b\.md leads out"):
        linked("[a](../../b.md)", file=PurePosixPath("docs/a.md"), names={})


def test_what_pages_link_to_becomes_a_page_and_what_that_links_to(tmp_path: Path) -> None:
    root, site = tmp_path / "root", tmp_path / "site"
    for file, text in {
        "README.md": "[a](docs/a.md)",
        "CONTRIBUTING.md": "",
        "CHANGELOG.md": "",
        "docs/a.md": "[b](../code/README.md), [d](d.json)",
        "docs/d.json": "{}",
        "code/README.md": "[c](wire/)",
        "code/wire/x.proto": "message X {}\n",
        "code/other.md": "nobody leads here",
    }.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")
    write_pages(root, site, names={"index.md": None, "api/hokm.view.md": None})
    assert {str(file.relative_to(site)) for file in site.rglob("*.md")} == {
        "index.md",
        "contributing.md",
        "changelog.md",
        "a.md",
        "repository/code/README.md",
        "repository/code/wire.md",
        "api/hokm.view.md",
    }
    shown = (site / "repository/code/wire.md").read_text(encoding="utf-8")
    assert "## x.proto\n\n````protobuf\nmessage X {}\n````" in shown
    assert (site / "d.json").read_text(encoding="utf-8") == "{}"
    assert "::: hokm.view" in (site / "api/hokm.view.md").read_text(encoding="utf-8")


def test_a_folder_is_shown_without_what_python_leaves_in_it_and_what_is_no_text(
    tmp_path: Path,
) -> None:
    root, site = tmp_path / "root", tmp_path / "site"
    for file, data in {
        "README.md": b"[a](bot/)",
        "CONTRIBUTING.md": b"",
        "CHANGELOG.md": b"",
        "bot/README.md": b"# It\n\n[how](bot.py)\n",
        "bot/bot.py": b"play()\n",
        "bot/weights.npz": b"\xa7" * 1000,
        "bot/__pycache__/bot.pyc": b"\xa7",
        "bot/.pytest_cache/README.md": b"[what](nothing.md)",
    }.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(data)
    write_pages(root, site, names={})
    assert (site / "repository/bot.md").read_text(encoding="utf-8") == (
        "# bot\n\n## README.md\n\n[A page of its own](bot/README.md).\n\n"
        "## bot.py\n\n````python\nplay()\n````\n\n"
        "## weights.npz\n\n1,000 bytes that are no text.\n"
    )
    own = (site / "repository/bot/README.md").read_text(encoding="utf-8")
    assert own == "# It\n\n[how](bot.py.md)\n"


def test_a_link_to_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    for file in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        (tmp_path / file).write_text("[a](docs/a.md)", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"docs/a\.md"):
        write_pages(tmp_path, tmp_path / "site", names={})


@pytest.mark.parametrize(
    ("html", "asks"),
    [
        ('<script src="https://example.org/x.js"></script>', True),
        ('<link href="//example.org/x.css" rel="stylesheet">', True),
        ('<img alt="" src=http://example.org/x.png>', True),
        ('<a href="https://example.org/">there</a>', False),
        ('<script src="assets/x.js"></script>', False),
        ('<link rel="canonical" href="https://example.org/">', False),
    ],
)
def test_what_asks_another_host_by_itself_is_found(html: str, asks: bool) -> None:
    assert bool(foreign(html)) == asks


@pytest.mark.parametrize(
    ("html", "there"),
    [
        ("<code>--json</code>", '<code><span class="option">--json</span></code>'),
        (
            "<code>sprt A --preset smoke</code>",
            '<code>sprt A <span class="option">--preset</span> smoke</code>',
        ),
        (f"<code>{'x' * 41}</code>", f'<code class="long">{"x" * 41}</code>'),
        ("<code>ladder-run -1</code>", "<code>ladder-run -1</code>"),
        ("<pre><code><span></span>a --json</code></pre>",) * 2,
        ("or --json",) * 2,
    ],
)
def test_an_option_of_a_command_stands_on_one_line_and_long_code_is_marked(
    html: str, there: str
) -> None:
    assert unbroken(html) == there


# -- docstrings


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("hokm.cards.Suit", "The four suits in the order of the card numbering."),
        ("hokm.cards.cards_in", "The cards of a set, ascending."),
        ("hokm.cards.Side", "What scores: with four seats side 0 is seats {0, 2}"),
    ],
)
def test_an_index_says_what_each_name_is(name: str, says: str) -> None:
    assert summary(name).startswith(says)


def test_a_name_without_a_docstring_is_in_no_index() -> None:
    with pytest.raises(LookupError, match=r"hokm\.cards\.Nobody"):
        summary("hokm.cards.Nobody")


def markdown(text: str) -> str:
    return markdown_of(text, full_name=lambda name: f"hokm.view.{name}")


def test_a_role_is_a_reference_that_need_not_be_found() -> None:
    assert markdown("By :meth:`~View.apply` of :class:`View`.") == (
        'By <autoref identifier="hokm.view.View.apply" optional><code>apply</code></autoref>'
        ' of <autoref identifier="hokm.view.View" optional><code>View</code></autoref>.'
    )


def test_an_example_is_code_until_a_blank_line() -> None:
    text = "Says.\n\n>>> play(1)\n3\n\nMore.\n\n    >>> for x in y:\n    ...     x\n"
    assert markdown(text) == (
        "Says.\n\n```pycon\n>>> play(1)\n3\n```\n\nMore.\n\n"
        "    ```pycon\n    >>> for x in y:\n    ...     x\n    ```\n"
    )


def test_what_follows_two_colons_stands_as_it_is() -> None:
    text = "A text::\n\n    hokm 4 :class:`x`\n\n    deck\n\nThe rest."
    assert markdown(text) == (
        "A text:\n\n    ```text\n    hokm 4 :class:`x`\n\n    deck\n    ```\n\nThe rest."
    )
