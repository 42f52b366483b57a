"""`arena ladder announce`, `nonce` and `run --entropy`, as an operator sees them."""

import json

import pytest

BEACON = "drand quicknet, round 14500000"
VALUE = "3f7cca4a5766583414d032a3de51e7c5ac3889159f7f2fba2fa71b659b9da5e5"


@pytest.fixture
def ladder(run, make_bot, tmp_path):
    folder = tmp_path / "club"
    assert run("ladder", "init", folder, "--boards", 1).status == 0
    assert run("ladder", "add", folder, make_bot("sara"), make_bot("علی")).status == 0
    return folder


def test_what_is_announced_is_printed_to_be_published(run, runner, ladder):
    ran = run("ladder", "announce", ladder, "--beacon", BEACON, "--cycles", 2)
    assert (ran.status, ran.err) == (0, "")
    first, commitment, digest, entropy, last = ran.out.splitlines()
    assert first == "ev1 is announced: 2 cycles"
    assert len(commitment.removeprefix("commitment    ")) == 64
    assert entropy == f"entropy       {BEACON}"
    file = ladder / "records/ev1/event.json"
    assert last == (
        f"Publish these lines now, and {file}; then arena ladder run {ladder} --entropy VALUE"
    )
    document = json.loads(file.read_bytes())
    assert digest == f"announcement  {document['announcement_digest']}"
    assert runner.played == []
    again = run("ladder", "announce", ladder, "--beacon", BEACON, "--cycles", 2)
    assert again.out == ran.out


def test_announcing_answers_in_json_too(run, ladder):
    words = ("--schedule", "gauntlet", "--seeds", "sara", "--json")
    answer = json.loads(run("ladder", "announce", ladder, *words).out)
    document = json.loads((ladder / "records/ev1/event.json").read_bytes())
    assert answer == {
        "event": "ev1",
        "schedule": document["announcement"]["schedule"],
        "commitment": document["announcement"]["commitment"],
        "announcement_digest": document["announcement_digest"],
        "beacon": None,
        "document": str(ladder / "records/ev1/event.json"),
    }
    assert answer["schedule"]["seeds"] == ["sara"]


def test_an_event_with_a_beacon_is_played_once_its_value_is_given(run, runner, ladder):
    run("ladder", "announce", ladder, "--beacon", BEACON)
    ran = run("ladder", "run", ladder)
    assert ran.status == 1
    assert ran.err == (f"error: ev1: needs what {BEACON} has published; give it with --entropy\n")
    answer = json.loads(run("ladder", "run", ladder, "--entropy", VALUE, "--json").out)
    assert (answer["entropy"], answer["complete"]) == (VALUE, True)
    ran = run("verify", ladder)
    assert ran.status == 0
    assert f"its entropy follows from what was published by {BEACON}" in ran.out
    assert run("ladder", "check", ladder).status == 0


def test_entrants_bring_nonces_and_the_deals_follow_from_them(run, runner, ladder):
    ran = run("ladder", "announce", ladder)
    assert f"entropy       what entrants bring: arena ladder nonce {ladder} BOT HEX" in ran.out
    ran = run("ladder", "nonce", ladder, "علی", "AB" * 32)
    assert ran.out == f"علی: its nonce for ev1 is {'ab' * 32}, and stays so\n"
    assert run("ladder", "nonce", ladder, "علی", "00" * 32).status == 1
    assert run("ladder", "run", ladder).status == 0
    assert "its entropy follows from 1 nonce\n" in run("verify", ladder).out
    assert "no event is announced" in run("ladder", "nonce", ladder, "sara", "00" * 32).err


@pytest.mark.parametrize("value", ["", "ab", "g" * 64, "0" * 65])
def test_what_is_no_nonce_is_a_misuse(run, ladder, value):
    run("ladder", "announce", ladder)
    ran = run("ladder", "nonce", ladder, "sara", value)
    assert ran.status == 2
    assert "a nonce is 64 hex digits" in ran.err


def test_an_event_without_entropy_says_so_plainly(run, runner, ladder):
    ran = run("ladder", "run", ladder)
    assert ran.err.splitlines()[0].endswith(
        ", without entropy (fine among friends; docs/fair-deals.md)"
    )
    assert "there is no entropy, so that is the operator's word alone" in run("verify", ladder).out


def test_while_somebody_plays_nothing_is_announced_and_no_nonce_taken(run, ladder):
    from arena.ladder.ladder import Ladder

    run("ladder", "announce", ladder)
    with Ladder.open(ladder) as held, held.held():
        for words in (("announce", ladder), ("nonce", ladder, "sara", "00" * 32)):
            ran = run("ladder", *words)
            assert ran.status == 1
            assert "is being played by process" in ran.err


def test_what_was_announced_by_mistake_is_called_off(run, ladder):
    assert run("ladder", "announce", ladder, "--call-off").status == 1
    run("ladder", "announce", ladder, "--beacon", "dran")
    ran = run("ladder", "announce", ladder, "--call-off")
    assert ran.out.startswith("ev1 is called off, its secret was ")
    assert "event ev1 of club, called off" in run("verify", ladder).out
    assert run("ladder", "announce", ladder, "--beacon", BEACON).out.startswith("ev2 is announced")
    answer = json.loads(run("ladder", "announce", ladder, "--call-off", "--json").out)
    assert (answer["event"], len(answer["secret"])) == ("ev2", 64)


def test_a_beacon_cannot_steer_a_terminal(run, ladder):
    ran = run("ladder", "announce", ladder, "--beacon", "\x1b[31mred")
    assert ran.status == 1
    assert "\x1b" not in ran.err
