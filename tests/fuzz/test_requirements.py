"""Requirements of whatever content: packages by name, or refused in one line; never an option, an
address or a file for whoever installs them.
"""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from arena.ladder.bots.bundle import BotError
from arena.ladder.bots.environments import read_requirements
from tests.fuzz.mutations import check_bounded, examples, mangled

VALID = [
    b"numpy==2.3.5\n",
    b"a[x,y]>=1,<2 ; python_version >= '3'  # why\nhokm-sdk\n",
    b"a==1 \\\n --hash=sha256:00 \\\n --hash=sha256:11\n",
]
TEXTS = ["a", "a==1", "-r", "-e", ".", "--pre", "--hash=sha256:0", "@", "file:///a", "#", "\\"]
MARKS = [";", "[x]", "--index-url=x", "../a.whl", "$HOME", "\x00", "\x0c", "\u2028", "\r", "\n"]
MARKERS = ["extra == 'x'", "os_name ~= 'x'", "python_version ~= 'x'"]
WORDS = st.sampled_from([*TEXTS, *MARKS, *MARKERS])
LINES = st.lists(WORDS, max_size=8).map(lambda words: " ".join(words).encode())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bot")


@examples(200)
@given(st.one_of(mangled(st.sampled_from(VALID)), LINES, st.binary(max_size=60)))
@example(b"a --no-binary a")
@example(b"a\\\n--pre")
@example(b"a\x0c--pre")
@example("a\u2028--pre".encode())
@example(b"a; extra == 'x'")
@example(b"a; python_version ~= 'x'")
@example(b"a; os_name ~= 'x'")
@example(b"a; 'x' ~= os_name")
@example(b"a" * 16384)
@example(b"a;" + b"(" * 8000)
@example(b"a" + b"[" * 8000)
def test_any_requirements_are_names_or_a_bot_error(folder: Path, data: bytes) -> None:
    (folder / "requirements.txt").write_bytes(data)
    try:
        lines = read_requirements(folder)
    except BotError as error:
        check_bounded(error)
        return
    for line in lines:
        wanted, *hashes = line.split(" --hash=")
        assert Requirement(wanted).url is None
        assert "\n" not in line
        assert not wanted.startswith("-")
        assert all(one.replace(":", "").isalnum() for one in hashes)
