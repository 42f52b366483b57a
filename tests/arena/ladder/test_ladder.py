"""The folder of a ladder: making, opening, adding, holding, checking."""

import operator
import os
import shutil
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.ladder import ladder as ladder_module
from arena.ladder.audit import check
from arena.ladder.bots.archive import pack
from arena.ladder.bots.bundle import bundle, bundle_digest
from arena.ladder.bots.entrants import SAMPLES, BotError
from arena.ladder.bots.shelf import Bundles, FolderShelf
from arena.ladder.errors import LadderError
from arena.ladder.events.playing import play_event
from arena.ladder.ladder import Entry, Ladder
from arena.ladder.schedules import RoundRobin
from arena.ladder.settings import Settings
from arena.ladder.store import Store
from arena.ladder.testing import InProcessRunner
from hokm.outcome import Ending
from tests.arena.ladder.conftest import OF_FILES
from tests.postgres import ON_POSTGRES

SETTINGS = Settings.of("club", length=1)


def complaint(do) -> str:
    """Return what is said when it is done; it is always one line."""
    with pytest.raises(LadderError) as caught:
        do()
    text = str(caught.value)
    assert "\n" not in text
    return text


# -- making and opening


def test_a_new_ladder_has_its_folders_and_a_secret_place(ladder: Ladder, folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert names >= {"bots", "ladder.toml", "lock", "logs", "records", "secret"}
    assert ("ladder.db" in names) is not ON_POSTGRES
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o700
    assert ladder.settings == SETTINGS


def test_an_empty_folder_will_do(folder: Path) -> None:
    folder.mkdir()
    Ladder.init(folder, SETTINGS).close()
    Ladder.open(folder).close()


def test_a_folder_with_something_in_it_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    assert "is not empty; give a new folder" in complaint(lambda: Ladder.init(folder, SETTINGS))
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_a_ladder_is_not_made_over_another(ladder: Ladder, folder: Path) -> None:
    assert "is a ladder already; go on with it" in complaint(lambda: Ladder.init(folder, SETTINGS))
    assert ladder.store.settings() == SETTINGS.toml()


@pytest.mark.parametrize("step", ["write_part", "Path.mkdir", "Store.create", "Path.replace"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_one_that_was_not_made_to_its_end_is_made_by_the_same_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    """As a kill before or after any of the steps would leave it."""
    folder.mkdir()
    owner, _, name = f"arena.ladder.ladder.{step}".rpartition(".")
    done = operator.attrgetter(step)(ladder_module)

    def killed(*args: object, **kwargs: object) -> object:
        if step == "Path.replace" and args[0] != folder / ".ladder.toml.part":
            return done(*args, **kwargs)
        if when == "after" and isinstance(made := done(*args, **kwargs), Store):
            made.close()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"{owner}.{name}", killed)
        with pytest.raises(KeyboardInterrupt):
            Ladder.init(folder, SETTINGS)
    if (step, when) == ("Path.replace", "after"):
        assert "is a ladder already" in complaint(lambda: Ladder.init(folder, SETTINGS))
    else:
        Ladder.init(folder, SETTINGS).close()
    with Ladder.open(folder) as made:
        assert check(made) == []
    assert not any(path.name.startswith(".") for path in folder.iterdir())


def test_a_database_without_settings_is_not_made_over(folder: Path) -> None:
    folder.mkdir()
    (folder / "ladder.db").write_text("restored from a backup")
    assert "is not empty" in complaint(lambda: Ladder.init(folder, SETTINGS))
    assert (folder / "ladder.db").read_text() == "restored from a backup"


def test_a_file_in_the_place_of_the_folder_is_said_to_be_in_the_way(folder: Path) -> None:
    folder.write_text("")
    assert "cannot be written (File exists)" in complaint(lambda: Ladder.init(folder, SETTINGS))


def test_what_is_no_ladder_is_not_opened(tmp_path: Path) -> None:
    assert "has no ladder.toml" in complaint(lambda: Ladder.open(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_settings_that_were_changed_are_refused_with_what_they_were(
    ladder: Ladder, folder: Path
) -> None:
    file = folder / "ladder.toml"
    file.write_text(file.read_text().replace("boards = 1 ", "boards = 32 "))
    said = complaint(lambda: Ladder.open(folder))
    assert said.startswith(f"{file}: says boards = 32")
    assert "was made with boards = 1 " in said


def test_comments_and_layout_of_the_settings_are_the_operators_own(
    ladder: Ladder, folder: Path
) -> None:
    file = folder / "ladder.toml"
    file.write_text("# ours\n\n" + file.read_text())
    Ladder.open(folder).close()


@pytest.mark.skipif(ON_POSTGRES, reason=OF_FILES)
def test_a_lost_database_is_not_replaced_by_an_empty_one(ladder: Ladder, folder: Path) -> None:
    ladder.close()
    (folder / "ladder.db").unlink()
    assert "ladder.db: is missing; restore" in complaint(lambda: Ladder.open(folder))
    assert not (folder / "ladder.db").exists()


# -- adding


def test_a_bot_is_entered_as_a_copy_its_author_cannot_change(
    ladder: Ladder, folder: Path, bot_folder
) -> None:
    source = Path(bot_folder("ada"))
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o755)
    (source / "weights").mkdir()
    (source / "weights" / "w.bin").write_bytes(bytes(1000))
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "x.pyc").write_bytes(b"")
    added = ladder.add(str(source))
    assert added.entry is Entry.NEW
    copy = folder / "bots" / added.bot.digest
    assert bundle_digest(copy) == bundle_digest(source) == added.bot.digest
    assert not (copy / "__pycache__").exists()
    assert os.access(copy / "run.sh", os.X_OK)
    assert not (copy / "bot.py").stat().st_mode & 0o222
    (source / "bot.py").write_text("other")
    assert bundle_digest(copy) == added.bot.digest


def test_a_copy_that_was_removed_is_made_again_of_the_archive(
    ladder: Ladder, bot_folder, tmp_path: Path
) -> None:
    folder = bot_folder("one")
    bot = ladder.add(folder).bot
    copy = ladder.bots_folder / bot.digest
    before = ladder.thawed(bot)
    archive = pack(Path(folder), into=tmp_path / "packed").file
    shutil.rmtree(copy)
    with pytest.raises(LadderError, match="is not as it was entered"):
        ladder.prepare()  # of an archive there is nothing
    own = ladder.folder / "submissions"
    for bundles in (Bundles(own), Bundles(own, FolderShelf(tmp_path / "elsewhere"))):
        bundles.put(bot.digest, archive)
        ladder.bundles = bundles
        ladder.prepare()
        assert ladder.thawed(bot) == before
        shutil.rmtree(copy)
        bundles.own.remove(bot.digest)
    assert not list(ladder.folder.glob(".again-*"))


def test_a_bundled_bot_is_entered_by_its_name(ladder: Ladder, bot_folder, monkeypatch) -> None:
    samples = Path(bot_folder("greedy")).parent
    monkeypatch.setattr("arena.ladder.ladder.find_bot", lambda text: samples / text)
    assert ladder.add("greedy").bot.name == "greedy"


def test_the_same_bot_again_changes_nothing(ladder: Ladder, bot_folder) -> None:
    first = ladder.add(bot_folder("ada"))
    again = ladder.add(bot_folder("ada"))
    assert (again.entry, again.bot) == (Entry.ALREADY_IN, first.bot)
    assert len(ladder.store.bots()) == 1


def test_a_changed_byte_is_another_bot_and_needs_another_name(ladder: Ladder, bot_folder) -> None:
    ladder.add(bot_folder("ada"))
    said = complaint(lambda: ladder.add(bot_folder("ada", code="print('better')\n")))
    assert "ada: is entered already, with other files" in said
    assert "give it another name in bot.toml" in said
    assert len(ladder.store.bots()) == 1


def test_names_that_differ_in_capitals_only_are_refused(ladder: Ladder, bot_folder) -> None:
    ladder.add(bot_folder("ada"))
    assert "differs from ada in capitals only" in complaint(lambda: ladder.add(bot_folder("Ada")))


def test_names_that_look_alike_are_refused_wherever_a_bot_is(ladder: Ladder, bot_folder) -> None:
    ladder.add(bot_folder("ada"))
    wide = "\uff21\uff44\uff41"
    assert f"{wide}: looks like ada" in complaint(lambda: ladder.add(bot_folder(wide)))
    at_home = complaint(lambda: ladder.add_remote(wide, owner="maryam", version="1"))
    assert f"{wide}: looks like ada" in at_home
    persian, arabic = "\u06a9\u06cc\u06f1", "\u0643\u064a\u0661"
    ladder.add(bot_folder(persian))
    assert f"looks like {persian}" in complaint(lambda: ladder.add(bot_folder(arabic)))


def test_a_name_that_no_file_can_carry_is_refused(ladder: Ladder, bot_folder) -> None:
    long = "𐎠" * 28  # Old Persian; four bytes each
    assert "more than 110 bytes" in complaint(lambda: ladder.add(bot_folder(long)))
    assert ladder.add(bot_folder("گ" * 40)).entry is Entry.NEW


async def test_the_longest_names_make_records_also_with_three_at_a_table(
    tmp_path: Path, bot_folder
) -> None:
    with Ladder.init(tmp_path / "x", Settings.of("x", players=3, length=1)) as ladder:
        said = complaint(lambda: ladder.add(bot_folder("گ" * 37, variants=(3,))))
        assert "more than 73 bytes" in said
        for letter in "پچژ":
            ladder.add(bot_folder(letter * 36, variants=(3,)))
        match = "ev1/r1/" + "~".join(letter * 36 for letter in "پچژ")
        runner = InProcessRunner(faults={(match, 1): (Ending.HOST_FAULT, None)})
        await play_event(ladder, runner, schedule=RoundRobin())
        assert [attempt.number for attempt in ladder.store.attempts()] == [1, 2]
        assert check(ladder) == []


def test_a_bot_that_cannot_play_here_is_refused(ladder: Ladder, bot_folder) -> None:
    said = complaint(lambda: ladder.add(bot_folder("ada", variants=(2, 3))))
    assert "ada: does not play with 4 (variants = [2, 3])" in said
    said = complaint(lambda: ladder.add(bot_folder("bob", protocol=7)))
    assert "bob: speaks protocol 7, this arena 1" in said
    assert ladder.store.bots() == ()


def test_what_is_no_bot_at_all_is_told_as_everywhere_else(ladder: Ladder, tmp_path: Path) -> None:
    with pytest.raises(BotError):
        ladder.add(str(tmp_path))


def test_only_bundled_random_play_is_unrated_unless_one_says_so(
    ladder: Ladder, bot_folder, monkeypatch
) -> None:
    random = bot_folder("random")
    assert ladder.add(bot_folder("ada")).bot.rated
    assert not ladder.add(bot_folder("bob"), rated=False).bot.rated
    monkeypatch.setattr("arena.ladder.ladder.SAMPLES", Path(random).resolve().parent)
    assert ladder.add(bot_folder("cyd")).bot.rated
    assert not ladder.add(random).bot.rated
    assert SAMPLES.is_dir()


def test_random_play_can_be_rated_on_demand(ladder: Ladder, bot_folder, monkeypatch) -> None:
    random = bot_folder("random")
    monkeypatch.setattr("arena.ladder.ladder.SAMPLES", Path(random).resolve().parent)
    assert ladder.add(random, rated=True).bot.rated
    assert "is entered already, as rated" in complaint(lambda: ladder.add(random, rated=False))


def test_an_anchor_is_rated(tmp_path: Path, bot_folder) -> None:
    with Ladder.init(tmp_path / "x", Settings.of("club", anchor="ada")) as ladder:
        said = complaint(lambda: ladder.add(bot_folder("ada"), rated=False))
        assert "is the anchor of this ladder" in said
        assert ladder.add(bot_folder("ada")).bot.rated


def test_a_bot_that_changes_while_it_is_copied_is_not_entered(
    ladder: Ladder, folder: Path, bot_folder, monkeypatch
) -> None:
    source = Path(bot_folder("ada"))

    def changing(of: Path):
        (source / "bot.py").write_text("changed")
        return bundle(of)

    monkeypatch.setattr("arena.ladder.bots.frozen.bundle", changing)
    assert "changed while it was copied" in complaint(lambda: ladder.add(str(source)))
    assert ladder.store.bots() == ()
    monkeypatch.undo()
    assert ladder.add(str(source)).entry is Entry.NEW  # what the first attempt left is no hindrance
    assert [path.name for path in (folder / "bots").iterdir()] == [ladder.store.bots()[0].digest]


def test_a_copy_that_was_removed_is_made_anew_by_adding_the_same_bot(
    ladder: Ladder, folder: Path, bot_folder
) -> None:
    added = ladder.add(bot_folder("ada"))
    shutil.rmtree(folder / "bots" / added.bot.digest)
    [problem] = check(ladder)
    assert "remove that folder, then add the same bot again" in str(problem)
    assert ladder.add(bot_folder("ada")).entry is Entry.ALREADY_IN
    assert check(ladder) == []


# -- holding


def test_a_ladder_is_played_by_one_at_a_time(ladder: Ladder, folder: Path) -> None:
    with Ladder.open(folder) as other:
        with ladder.held():
            said = complaint(other.held().__enter__)
            assert f"{folder}: is being played by process {os.getpid()}" in said
        with other.held():
            pass


# -- entering and leaving


def test_the_same_program_under_another_name_stays_one_bot(
    ladder: Ladder, bot_folder: Callable[..., str]
) -> None:
    ladder.add(bot_folder("ada", code="print('one program')\n"))
    copy = ladder.add(bot_folder("eve", code="print('one program')\n", owner="somebody"))
    assert (copy.entry, copy.bot.name) == (Entry.SAME_PROGRAM, "ada")
    assert [bot.name for bot in ladder.store.bots()] == ["ada"]
    other = ladder.add(bot_folder("bob", code="print('another program')\n"))
    assert other.entry is Entry.NEW


def test_a_copy_does_not_keep_out_a_bundled_bot_or_the_anchor(
    tmp_path: Path, bot_folder: Callable[..., str]
) -> None:
    with Ladder.init(tmp_path / "x", Settings.of("x", anchor="scale")) as ladder:
        thief = tmp_path / "thief"
        shutil.copytree(SAMPLES / "greedy", thief)
        manifest = thief / "bot.toml"
        manifest.write_text(manifest.read_text().replace('"greedy"', '"thief"'))
        ladder.add(str(thief))
        ladder.add(bot_folder("copy", code="print('scale')\n"))
        for name in ("greedy", bot_folder("scale", code="print('scale')\n")):
            assert ladder.add(name).entry is Entry.NEW
        active = {bot.name for bot in ladder.store.bots() if bot.is_active}
        assert active == {"greedy", "scale"}
        assert ladder.add(str(thief)).bot.name == "greedy"


def test_a_retired_copy_keeps_nobody_out(ladder: Ladder, bot_folder: Callable[..., str]) -> None:
    ada = bot_folder("ada", code="print('one program')\n")
    ladder.add(ada)
    ladder.withdraw("ada")
    assert ladder.add(bot_folder("eve", code="print('one program')\n")).entry is Entry.NEW
    again = ladder.add(ada)
    assert (again.entry, again.bot.name) == (Entry.SAME_PROGRAM, "eve")
    assert [bot.name for bot in ladder.store.bots() if bot.is_active] == ["eve"]


def test_bots_that_are_entered_at_once_are_compared_with_each_other(
    ladder: Ladder, folder: Path, bot_folder: Callable[..., str]
) -> None:
    bots = [bot_folder(name, code="print('one program')\n") for name in ("ada", "bob", "cyd")]
    together = threading.Barrier(len(bots))

    def add(bot: str) -> Entry:
        with Ladder.open(folder) as opened:
            together.wait()
            return opened.add(bot).entry

    with ThreadPoolExecutor(len(bots)) as pool:
        entries = list(pool.map(add, bots))
    assert sorted(entry.name for entry in entries) == ["NEW", "SAME_PROGRAM", "SAME_PROGRAM"]


def test_only_bundled_bots_are_references(ladder: Ladder, bot_folder: Callable[..., str]) -> None:
    assert ladder.add("greedy").bot.reference
    assert not ladder.add(bot_folder("ada", owner="hokm-arena")).bot.reference


def test_a_withdrawn_bot_is_out_until_it_is_added_again(
    ladder: Ladder, bot_folder: Callable[..., str]
) -> None:
    folder = bot_folder("ada")
    ladder.add(folder)
    assert ladder.withdraw("ada").is_retired
    assert not ladder.store.bots()[0].is_active
    assert ladder.add(folder).entry is Entry.BACK
    assert "did you mean ada?" in complaint(lambda: ladder.withdraw("adda"))


# -- standings


async def test_standings_can_be_read_by_anybody_at_any_time(played: Ladder, folder: Path) -> None:
    with Ladder.open(folder) as other, played.held():
        assert other.standings() == played.standings()
        assert other.standings().rounds_closed == 3


# -- bots that stay at home


def test_a_bot_that_stays_at_home_is_entered_once_a_version(ladder: Ladder) -> None:
    first = ladder.add_remote("rostam", owner="maryam", version="1")
    assert ladder.add_remote("rostam", owner="maryam", version="1") == first
    second = ladder.add_remote("rostam", owner="maryam", version="2")
    assert [first.name, second.name] == ["rostam", "rostam-2"]
    assert first.rated
    assert first.remote
    entrant = ladder.thawed(second)
    assert (entrant.name, entrant.version, entrant.digest) == ("rostam-2", "2", second.digest)
    assert entrant.is_remote


@pytest.mark.parametrize("name", ["rostam", "Rostam"])
def test_a_bot_that_stays_at_home_takes_nobodys_name(ladder: Ladder, bot_folder, name: str) -> None:
    ladder.add(bot_folder("rostam"))
    with pytest.raises(LadderError):
        ladder.add_remote(name, owner="maryam", version="1")
    assert len(ladder.store.bots()) == 1


@pytest.mark.parametrize("version", ["1/2", "a b", "x" * 40])
def test_a_version_that_makes_no_name_is_refused(ladder: Ladder, version: str) -> None:
    ladder.add_remote("rostam", owner="maryam", version="1")
    with pytest.raises(LadderError, match="another version"):
        ladder.add_remote("rostam", owner="maryam", version=version)
