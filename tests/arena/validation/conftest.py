"""A bot that is looked at and never started."""

from pathlib import Path

import pytest

from arena.ladder.bots.entrants import Entrant, load_bot
from tests.submissions.broken import folder


@pytest.fixture
def entrant(tmp_path: Path) -> Entrant:
    return load_bot(folder()(tmp_path))
