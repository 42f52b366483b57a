"""Which bots can be entered: manifests, names, and errors an author can act on."""

import unicodedata
from pathlib import Path

import pytest

from arena.ladder.bots.bundle import bundle_digest
from arena.ladder.bots.entrants import (
    BotError,
    Limits,
    Parameter,
    checked_name,
    find_bot,
    load_bot,
    program_digest,
    sample_names,
)

LEAST = """\
schema = 1
name = "greedy"
owner = "maryam"
version = "1.0"
command = ["python", "bot.py"]
protocol = 1
variants = [4]
"""


def bot(folder: Path, manifest: str = LEAST, *, replace: tuple[str, str] | None = None) -> Path:
    """Make a bot's folder; `replace` changes a line of the manifest."""
    if replace is not None:
        old, new = replace
        assert old in manifest
        manifest = manifest.replace(old, new)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.toml").write_text(manifest, encoding="utf-8")
    (folder / "bot.py").write_text("", encoding="utf-8")
    return folder


def complaint(folder: Path) -> str:
    """Return what is said about a bot that cannot be entered; it is always one line."""
    with pytest.raises(BotError) as caught:
        load_bot(folder)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_manifest_with_every_key_is_read_whole(tmp_path: Path) -> None:
    manifest = LEAST.replace("variants = [4]", "variants = [4, 2]") + (
        'language = "Python"\nconcurrent = 8\n[limits]\nmemory_mib = 512\nprocesses = 4\n'
    )
    entrant = load_bot(bot(tmp_path, manifest))
    assert (entrant.name, entrant.owner, entrant.version) == ("greedy", "maryam", "1.0")
    assert entrant.command == ("python", "bot.py")
    assert (entrant.language, entrant.protocol) == ("Python", 1)
    assert (entrant.variants, entrant.concurrent) == ((2, 4), 8)
    assert entrant.limits == Limits(memory_mib=512, processes=4)
    assert entrant.folder == tmp_path
    assert entrant.digest == bundle_digest(tmp_path)


def test_what_a_manifest_leaves_out_asks_for_nothing(tmp_path: Path) -> None:
    entrant = load_bot(bot(tmp_path))
    assert (entrant.language, entrant.concurrent) == ("", 1)
    assert entrant.limits == Limits(memory_mib=None, processes=None)


def test_a_bot_named_by_a_relative_path_is_known_by_its_absolute_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    assert load_bot(Path("mine")).folder == tmp_path / "mine"


def test_python_in_a_command_is_the_interpreter_the_arena_runs_bots_with(tmp_path: Path) -> None:
    assert load_bot(bot(tmp_path)).argv("/venv/bin/python") == ("/venv/bin/python", "bot.py")


@pytest.mark.parametrize("program", ["node", "/usr/bin/node", "python3"])
def test_any_other_program_is_run_as_it_is_named(tmp_path: Path, program: str) -> None:
    folder = bot(tmp_path, replace=('"python"', f'"{program}"'))
    assert load_bot(folder).argv("/venv/bin/python") == (program, "bot.py")


def test_python_may_be_given_an_option_in_place_of_a_file(tmp_path: Path) -> None:
    folder = bot(tmp_path, replace=('"bot.py"', '"-m", "hokm"'))
    assert load_bot(folder).argv("py") == ("py", "-m", "hokm")


def test_a_program_in_the_folder_can_be_the_command(tmp_path: Path) -> None:
    folder = bot(tmp_path, replace=('"python", "bot.py"', '"bin/bot", "--fast"'))
    (folder / "bin").mkdir()
    (folder / "bin" / "bot").touch(mode=0o755)
    assert load_bot(folder).argv("py") == ("bin/bot", "--fast")


def test_a_missing_folder_is_said_to_be_missing(tmp_path: Path) -> None:
    text = complaint(tmp_path / "none")
    assert text == f"{tmp_path}/none: there is no such folder; give the folder that holds bot.toml"


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    text = complaint(bot(tmp_path) / "bot.toml")
    assert "bot.toml: is not a folder; give the folder that holds bot.toml" in text


def test_a_folder_without_a_manifest_is_told_to_get_one(tmp_path: Path) -> None:
    assert complaint(tmp_path).startswith(f"{tmp_path}: has no bot.toml; write one")


def test_a_manifest_that_is_a_folder_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").mkdir()
    assert "bot.toml: is not a regular file" in complaint(tmp_path)


def test_broken_toml_is_shown_with_its_line(tmp_path: Path) -> None:
    text = complaint(bot(tmp_path, replace=('owner = "maryam"', "owner = maryam")))
    assert "bot.toml: is not TOML: " in text
    assert "line 3" in text


def test_a_manifest_in_another_encoding_is_refused(tmp_path: Path) -> None:
    folder = bot(tmp_path)
    (folder / "bot.toml").write_bytes(LEAST.replace("maryam", "ren\u00e9").encode("latin-1"))
    assert "bot.toml: is not UTF-8 from byte 39 on; save it as UTF-8" in complaint(folder)


def test_a_later_schema_is_refused_before_its_keys_are_judged(tmp_path: Path) -> None:
    text = complaint(bot(tmp_path, replace=("schema = 1", "schema = 2\nnovelty = 1")))
    assert "bot.toml: schema: 2 is not known to this arena; write schema = 1, or update" in text


@pytest.mark.parametrize(
    ("line", "example"),
    [
        ("schema = 1", "schema = 1"),
        ('name = "greedy"', 'name = "greedy"'),
        ('owner = "maryam"', 'owner = "maryam"'),
        ('version = "1.0"', 'version = "1.0"'),
        ('command = ["python", "bot.py"]', 'command = ["python", "bot.py"]'),
        ("protocol = 1", "protocol = 1"),
        ("variants = [4]", "variants = [4]"),
    ],
)
def test_a_missing_key_is_named_with_a_line_that_would_do(
    tmp_path: Path, line: str, example: str
) -> None:
    key = line.split()[0]
    text = complaint(bot(tmp_path, replace=(line, "")))
    assert text.endswith(f"bot.toml: {key}: is missing; write e.g. {example}")


def test_an_unknown_key_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    text = complaint(bot(tmp_path, replace=("variants", "variant")))
    assert text.endswith("bot.toml: variant: is not a known key; did you mean variants?")


def test_an_unknown_key_near_to_none_is_refused_with_all_known_ones(tmp_path: Path) -> None:
    text = complaint(bot(tmp_path, LEAST + "zzz = 1\n"))
    assert "zzz: is not a known key; the keys here are schema, name, owner, version, " in text


def test_an_unknown_limit_is_refused_by_its_full_name(tmp_path: Path) -> None:
    text = complaint(bot(tmp_path, LEAST + "[limits]\nmemory_mb = 512\n"))
    assert text.endswith("limits.memory_mb: is not a known key; did you mean memory_mib?")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("schema = 1", "schema = true", "schema: True is not a whole number from 1 up"),
        ('"greedy"', "7", "name: 7 is not a text; write e.g. name ="),
        ('"greedy"', '"a b"', "name: 'a b' has ' ', U+0020 SPACE in it; take letters, digits"),
        ('"maryam"', '""', "owner: '' has 0 characters; a name has 1 to 40"),
        ('"1.0"', "1.0", "version: 1.0 is not a text"),
        ('"1.0"', '"1\\u0007"', "version: '1\\x07' is not 1 to 40 visible characters"),
        (
            '["python", "bot.py"]',
            '"python bot.py"',
            "command: 'python bot.py' is not a list of texts",
        ),
        ('["python", "bot.py"]', "[]", "command: is empty or has an empty word in it"),
        ('"bot.py"', '""', "command: is empty or has an empty word in it"),
        ('"bot.py"', '"a\\u0000"', "command: is empty or has an empty word in it"),
        ('"bot.py"', "1", "command: ['python', 1] is not a list of texts"),
        ('"bot.py"', '"bott.py"', "command: there is no file bott.py in the bot's folder"),
        ('"bot.py"', '"../bot.py"', "command: ../bot.py is outside the bot's folder"),
        ('"python", "bot.py"', '"./bot"', "command: there is no file ./bot in the bot's folder"),
        ('"python", "bot.py"', '"./bot.py"', "command: ./bot.py is not executable; chmod +x it"),
        ('"python", "bot.py"', '"bot.py"', "bot.py would be looked for on PATH"),
        ("protocol = 1", "protocol = 0", "protocol: 0 is not a whole number from 1 up"),
        ("protocol = 1", "protocol = 1.0", "protocol: 1.0 is not a whole number from 1 up"),
        ("[4]", "4", "variants: 4 is not a list of whole numbers"),
        ("[4]", "[]", "variants: [] is not a choice out of [2, 3, 4]; write e.g. variants = [4]"),
        ("[4]", "[4, 5]", "variants: [4, 5] is not a choice out of [2, 3, 4]"),
        ("[4]", "[true]", "variants: [True] is not a list of whole numbers"),
        ("[4]", "[4]\nconcurrent = 0", "concurrent: 0 is not a whole number from 1 up"),
        ("[4]", "[4]\nlanguage = ''", "language: '' is not 1 to 40 visible characters"),
        ("[4]", "[4]\nlimits = 1", "limits: is not a table; write e.g. [limits]"),
        ("[4]", "[4]\n[limits]\nprocesses = -1", "limits.processes: -1 is not a whole number"),
    ],
)
def test_a_wrong_value_is_named_with_what_would_have_been_right(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    folder = bot(tmp_path, replace=(old, new))
    text = complaint(folder)
    assert text.startswith(f"{folder}/bot.toml: ")
    assert says in text


def test_a_bad_bundle_is_refused_with_the_bot(tmp_path: Path) -> None:
    folder = bot(tmp_path)
    (folder / "deck").symlink_to("/etc/hostname")
    assert "deck: is a symbolic link" in complaint(folder)


@pytest.mark.parametrize(
    "name",
    ["a", "Greedy-2.1_b", "_x", "7", "شاه", "بی.بی", "حکم۷", "é", "Ωμέγα", "n" * 40, "ß" * 40],
)
def test_names_are_letters_and_digits_of_any_script_with_a_few_signs(name: str) -> None:
    assert checked_name(name) == name


def test_a_name_typed_in_decomposed_form_is_the_composed_one() -> None:
    decomposed = unicodedata.normalize("NFD", "é" * 40)
    assert len(decomposed) == 80
    assert checked_name(decomposed) == "é" * 40


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "0 characters; a name has 1 to 40"),
        ("n" * 41, "41 characters; a name has 1 to 40"),
        ("a/b", "'/', U+002F SOLIDUS"),
        ("a~b", "'~', U+007E TILDE"),
        ("a!2", "'!', U+0021 EXCLAMATION MARK"),
        ("a\n", "has U+000A a control character"),
        ("بی\u200cبی", "has U+200C ZERO WIDTH NON-JOINER"),
        ("a\u202eb", "has U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("ada\u3164", "U+3164 HANGUL FILLER"),
        ("ada\uffa0", "U+FFA0 HALFWIDTH HANGUL FILLER"),
        ("\u115fada", "U+115F HANGUL CHOSEONG FILLER"),
        ("ada\u1160", "U+1160 HANGUL JUNGSEONG FILLER"),
        ("²", "U+00B2 SUPERSCRIPT TWO"),
        ("\udc80", "U+DC80"),
        ("..", "begins with '.'"),
        (".hidden", "begins with '.'"),
        ("-rf", "begins with '-'"),
    ],
)
def test_other_names_are_refused_with_the_character_at_fault(name: str, says: str) -> None:
    with pytest.raises(ValueError) as caught:
        checked_name(name)
    assert says in str(caught.value)


def test_a_bot_is_found_by_its_folder_or_by_the_name_of_a_bundled_one(tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    bundled = bot(samples / "greedy")
    mine = bot(tmp_path / "mine")
    assert find_bot("greedy", samples=samples) == bundled
    assert find_bot(str(mine), samples=samples) == mine


def test_a_folder_here_comes_before_a_bundled_bot_only_if_it_is_a_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = tmp_path / "samples"
    bundled = bot(samples / "greedy")
    here = tmp_path / "here"
    (here / "greedy").mkdir(parents=True)
    monkeypatch.chdir(here)
    assert find_bot("greedy", samples=samples) == bundled
    bot(here / "greedy")
    assert find_bot("greedy", samples=samples) == Path("greedy")


def test_a_misspelt_bot_is_refused_with_the_nearest_bundled_one(tmp_path: Path) -> None:
    bot(tmp_path / "greedy")
    bot(tmp_path / "careful")
    with pytest.raises(BotError, match=r"^gredy: is neither .*; did you mean greedy\?$"):
        find_bot("gredy", samples=tmp_path)
    with pytest.raises(BotError, match="bundled bots: careful, greedy"):
        find_bot("zzz", samples=tmp_path)


def test_a_folder_that_is_no_bot_is_left_for_loading_to_explain(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert find_bot(str(folder), samples=tmp_path) == folder


def test_bundled_bots_are_the_folders_with_a_manifest(tmp_path: Path) -> None:
    bot(tmp_path / "greedy")
    bot(tmp_path / "careful")
    (tmp_path / "notes").mkdir()
    assert sample_names(samples=tmp_path) == ("careful", "greedy")


def test_without_bundled_bots_there_are_no_names(tmp_path: Path) -> None:
    assert sample_names(samples=tmp_path / "none") == ()


@pytest.mark.parametrize("word", ["b" * 300, "./" + "b" * 300, "d/" * 3000 + "b"])
def test_a_command_too_long_to_be_a_path_is_told_by_its_key(tmp_path: Path, word: str) -> None:
    for command in (f'["python", "{word}"]', f'["{word}"]'):
        folder = bot(tmp_path, replace=('["python", "bot.py"]', command))
        assert complaint(folder).startswith(f"{folder}/bot.toml: command: ")


def test_a_command_whose_file_is_a_link_to_itself_is_told_by_its_key(tmp_path: Path) -> None:
    folder = bot(tmp_path)
    (folder / "bot.py").unlink()
    (folder / "bot.py").symlink_to("bot.py")
    assert "bot.toml: command: " in complaint(folder)


@pytest.mark.parametrize("text", ["n" * 300, "n" * 5000, "a/" * 5000, "a\0b", "\ud800"])
def test_what_can_be_no_path_is_no_bot(tmp_path: Path, text: str) -> None:
    with pytest.raises(BotError) as refused:
        find_bot(text, samples=tmp_path)
    assert len(str(refused.value)) < 500


def test_a_version_of_blanks_is_refused(tmp_path: Path) -> None:
    folder = bot(tmp_path, replace=('version = "1.0"', 'version = " "'))
    assert "is not 1 to 40 visible characters" in complaint(folder)


def test_a_build_is_a_command_of_its_own(tmp_path: Path) -> None:
    manifest = LEAST.replace('"python", "bot.py"', '"./made"')
    entrant = load_bot(bot(tmp_path, f'{manifest}[build]\ncommand = ["python", "make.py"]\n'))
    assert entrant.command == ("./made",)  # which is not there yet
    assert entrant.build_argv("py") == ("py", "make.py")
    assert entrant.home == tmp_path


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        ("", "build.command: is missing"),
        ("command = []", "build.command: is empty or has an empty word in it"),
        ('command = "make"', "build.command: 'make' is not a list of texts"),
        ('comand = ["make"]', "build.comand: is not a known key; did you mean command?"),
    ],
)
def test_a_build_that_is_none_is_refused(tmp_path: Path, build: str, problem: str) -> None:
    assert problem in complaint(bot(tmp_path, f"{LEAST}[build]\n{build}\n"))


def test_another_build_is_another_program(tmp_path: Path) -> None:
    builds = ["", '[build]\ncommand = ["a"]\n', '[build]\ncommand = ["b"]\n']
    programs = {
        program_digest(load_bot(bot(tmp_path / str(number), LEAST + build)))
        for number, build in enumerate(builds)
    }
    assert len(programs) == 3


PARAMETERS = """\
[parameters]
caution = { default = 0.5, low = 0, high = 1.0 }
depth = { default = 3, low = 1, high = 8, integer = true }
"""


def test_parameters_are_numbers_within_bounds_and_the_bot_finds_them_as_json(
    tmp_path: Path,
) -> None:
    entrant = load_bot(bot(tmp_path, LEAST + PARAMETERS))
    assert entrant.parameters == (
        Parameter("caution", 0.5, 0.0, 1.0),
        Parameter("depth", 3.0, 1.0, 8.0, is_integer=True),
    )
    assert entrant.variables == {"HOKM_PARAMETERS": '{"caution": 0.5, "depth": 3}'}
    assert load_bot(bot(tmp_path / "plain")).variables == {}


def test_a_parameter_is_brought_to_the_nearest_number_that_it_may_be() -> None:
    depth = Parameter("depth", 3.0, 1.0, 8.0, is_integer=True)
    assert [depth.near(value) for value in (-4, 2.4, 2.6, 9.5)] == [1, 2, 3, 8]
    assert Parameter("caution", 0.5, 0.0, 1.0).near(0.3) == 0.3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("x = 0.5", "parameters.x: is not a table; write e.g. caution = { default = 0.5,"),
        ("x = { default = 0.5, low = 0 }", "parameters.x.high: is missing; write e.g. high = 1.0"),
        ("x = { defualt = 0.5 }", "parameters.x.defualt: is not a known key; did you mean default"),
        ("x = { low = 'a' }", "parameters.x.low: 'a' is not a number"),
        ("x = { low = true }", "parameters.x.low: True is not a number"),
        ("x = { low = -inf }", "parameters.x.low: -inf is not a number that one can reach"),
        ("x = { low = 1, high = 1, default = 1 }", "x.high: 1 is not above low, 1; swap them"),
        (
            "x = { low = -1e308, high = 1e308, default = 0 }",
            "parameters.x.high: -1e+308 to 1e+308 is too wide; bring them nearer",
        ),
        ("x = { low = 1, high = 2, default = 3 }", "x.default: 3 is not from 1 to 2; mend one of"),
        (
            "x = { low = 0.5, integer = true }",
            "x.low: 0.5 is not a whole number, as integer = true",
        ),
        ("x = { integer = 1 }", "parameters.x.integer: 1 is neither true nor false"),
        ("1x = {}", "parameters.1x: is no name of a parameter; write 1 to 40 of a-z"),
        ('"a b" = {}', "parameters.a b: is no name of a parameter"),
    ],
)
def test_a_parameter_that_is_none_is_refused_by_its_key(
    tmp_path: Path, given: str, says: str
) -> None:
    assert says in complaint(bot(tmp_path, f"{LEAST}[parameters]\n{given}\n"))


def test_a_manifest_has_64_parameters_at_most(tmp_path: Path) -> None:
    lines = [f"p{number} = {{ default = 0, low = 0, high = 1 }}" for number in range(65)]
    text = complaint(bot(tmp_path, LEAST + "[parameters]\n" + "\n".join(lines)))
    assert "parameters.p64: is one parameter too many; leave some out: 64 at most" in text


def test_other_values_of_parameters_are_another_program(tmp_path: Path) -> None:
    plain = program_digest(load_bot(bot(tmp_path / "plain")))
    one = program_digest(load_bot(bot(tmp_path / "one", LEAST + PARAMETERS)))
    other = LEAST + PARAMETERS.replace("default = 3", "default = 4")
    wider = LEAST + PARAMETERS.replace("high = 8", "high = 9")
    assert len({plain, one, program_digest(load_bot(bot(tmp_path / "other", other)))}) == 3
    assert program_digest(load_bot(bot(tmp_path / "wider", wider))) == one
