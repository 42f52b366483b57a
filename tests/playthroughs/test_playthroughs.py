"""What happens at a table, and what each seat sees of it, is what was reviewed last."""

from difflib import unified_diff

import pytest

from tests.hokm.random_play import ONE_HAND_OPTIONS
from tests.playthroughs.regenerate import FOLDER, PLAYTHROUGHS, text_of

COMMAND = "python tests/playthroughs/regenerate.py"


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_a_playthrough_is_as_it_was(name: str) -> None:
    file = FOLDER / f"{name}.txt"
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    now = text_of(name)
    changes = unified_diff(
        before.splitlines(), now.splitlines(), f"{name}.txt, as reviewed", "now", lineterm=""
    )
    assert now == before, "\n".join(
        [f"{name}.txt is no longer what happens. If that is meant: {COMMAND}", *changes]
    )


def test_every_file_has_its_playthrough() -> None:
    files = {file.stem for file in FOLDER.glob("*.txt")}
    assert files == set(PLAYTHROUGHS), f"{COMMAND} writes and removes them"


@pytest.mark.parametrize("players", ONE_HAND_OPTIONS)
def test_every_option_that_changes_a_hand_is_played(players: int) -> None:
    played: dict[str, set[str]] = {}
    for playthrough in PLAYTHROUGHS.values():
        if playthrough.players == players:
            for option, text in playthrough.rules.options().items():
                played.setdefault(option, set()).add(text)
    for option, texts in ONE_HAND_OPTIONS[players].items():
        assert set(texts) <= played[option], option
