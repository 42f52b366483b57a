"""A bot's process and its stream, against a referee of a few lines on this machine."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from queue import SimpleQueue

import grpc
import pytest

import hokm
from hokm import Asked, Bot, Card, Ending, Outcome, Reason, Rules, Seat, View, client
from hokm.actions import DECLARATIONS, Action
from hokm.cards import Trump, parse_cards
from hokm.deck import shuffled
from hokm.events import Event, HandStarted, PacketDealt
from hokm.notes import Note
from hokm.player import Player
from hokm.rules.game import Board
from hokm.rules.variants import variant_of
from hokm.session import (
    Answer,
    ClockRules,
    Decision,
    FromBot,
    FromReferee,
    GameEnd,
    GameStart,
    Goodbye,
    Hello,
    Malformed,
    MatchEnd,
    MatchStart,
    ProtocolRefused,
    Refused,
    Welcome,
)
from hokm.testing import seeds
from hokm.wire import PLAY_METHOD, decode_from_bot, encode_from_bot, encode_from_referee

Requests = Iterator[tuple[FromBot, ...]]
Script = Callable[[Requests, grpc.ServicerContext], Iterator[list[FromReferee]]]

RULES = Rules.of(2)
WELCOME = Welcome(1, "arena of a test", "token")
NAMES = ("a", "b")
MATCH = MatchStart("local/m", RULES, 1, ClockRules())
START: list[FromReferee] = [WELCOME, MATCH, GameStart(MATCH.match, 7, Seat(0), NAMES)]
END: list[FromReferee] = [MatchEnd(MATCH.match), Goodbye()]


class Lowest(Bot):
    """Plays the lowest card, and keeps the outcomes."""

    outcomes: list[Outcome] = []  # noqa: RUF012  # of all bots of a test

    def play(self, view: View) -> Card:
        return view.playable[0]

    def game_ended(self, view: View, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


class BotLeftError(Exception):
    """A script waits for a batch, and the bot has ended its half of the stream.

    Whether a bot that breaks off looks like this or like a broken stream is a race in gRPC.
    """


class Abort(Exception):
    """The script breaks the stream off."""

    def __init__(self, code: grpc.StatusCode) -> None:
        super().__init__(code)
        self.code = code


class Referee(grpc.GenericRpcHandler):
    """A gRPC server that follows one script and keeps what it was told."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.received: list[FromBot] = []
        self.batches = 0
        self.tickets: list[object] = []
        self.tokens: list[object] = []
        self.ended = threading.Event()
        self.failures: list[Exception] = []
        self.took_seconds: list[float | None] = []

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        assert details.method == PLAY_METHOD
        metadata = dict(details.invocation_metadata)
        self.tickets.append(metadata.get("hokm-ticket"))
        self.tokens.append(metadata.get("hokm-resume"))
        return grpc.stream_stream_rpc_method_handler(self._play)

    def _play(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        context.add_callback(self.ended.set)
        try:
            for messages in self.script(self._decoded(requests), context):
                yield encode_from_referee(messages)
        except BotLeftError:
            return
        except grpc.RpcError:  # the bot broke off
            raise
        except Abort as abort:
            context.abort(abort.code, "as the script says")
        except Exception as failure:
            self.failures.append(failure)
            raise

    def _untimed(self, message: FromBot) -> FromBot:
        if isinstance(message, Answer):
            self.took_seconds.append(message.took_seconds)
            return replace(message, took_seconds=None)
        return message

    def _decoded(self, requests: Iterator[bytes]) -> Requests:
        for data in requests:
            messages = tuple(map(self._untimed, decode_from_bot(data)))
            self.batches += 1
            self.received.extend(messages)
            yield messages
        raise BotLeftError


@contextmanager
def serving(script: Script, at: str = "127.0.0.1:0") -> Iterator[tuple[Referee, str]]:
    """A referee that follows this script, and its address."""
    referee = Referee(script)
    with ThreadPoolExecutor(2) as pool:
        server = grpc.server(pool, options=[("grpc.so_reuseport", 0)])
        server.add_generic_rpc_handlers([referee])
        port = server.add_insecure_port(at)
        server.start()
        try:
            yield referee, at.replace(":0", f":{port}")
        finally:
            server.stop(0).wait()
    assert not referee.failures


def run(bot_class: type[Bot], address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a bot in this process as an arena would in its own."""
    monkeypatch.setenv("HOKM_ADDRESS", address)
    monkeypatch.setenv("HOKM_TICKET", "ticket of the test")
    hokm.run(bot_class)


def run_file(file: Path, address: str) -> subprocess.CompletedProcess[str]:
    """Run a bot's file in a process of its own."""
    environment = os.environ | {"HOKM_ADDRESS": address, "HOKM_TICKET": "ticket of the test"}
    command = [sys.executable, "-m", "hokm", "run", str(file)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


# -- scripts


def a_board(requests: Requests, context: grpc.ServicerContext) -> Iterator[list[FromReferee]]:
    """One board for two: the bot at seat 0, at seat 1 another in this process."""
    yield from a_start(requests, context)
    other = Player(Lowest)
    other.receive([WELCOME, MATCH, GameStart(MATCH.match, 7, Seat(1), NAMES)])
    deck = shuffled(variant_of(RULES).pack, seeds("client")(1))
    game = Board(RULES, deck, number=1)
    happened = game.start()
    told = [0, 0]

    def news(seat: Seat) -> tuple[Event, ...]:
        events = tuple(event.seen_by(seat) for event in happened[told[seat] :])
        told[seat] = len(happened)
        return events

    for number in count(1):
        seat = game.to_act
        if seat is None:
            break
        decision = Decision(7, number, news(seat), game.legal_actions(), None)
        if seat == 0:
            yield [decision]
            (answer,) = next(requests)
        else:
            (answer,) = other.receive([decision])
        assert isinstance(answer, Answer)
        assert answer.decision == number
        assert not isinstance(answer.action, Malformed)
        happened += game.act(seat, answer.action)
    assert game.outcome is not None
    yield [GameEnd(7, news(Seat(0)), game.outcome), *END]
    assert list(requests) == [(Goodbye(),)]


def a_start(requests: Requests, context: grpc.ServicerContext) -> Iterator[list[FromReferee]]:
    assert isinstance(next(requests)[0], Hello)
    yield START


def two_decisions_at_once(
    requests: Requests, context: grpc.ServicerContext
) -> Iterator[list[FromReferee]]:
    yield from a_start(requests, context)
    yield [GameStart(MATCH.match, 8, Seat(0), NAMES), first_decision(7), first_decision(8)]
    answers = [next(requests)]
    if len(answers[0]) == 1:  # the second was not ready yet when the first was sent
        answers.append(next(requests))
    assert [type(answer) for batch in answers for answer in batch] == [Answer, Answer]
    yield END
    assert list(requests) == [(Goodbye(),)]


def a_refusal(requests: Requests, context: grpc.ServicerContext) -> Iterator[list[FromReferee]]:
    yield from a_start(requests, context)
    yield [first_decision(7)]
    next(requests)
    yield [Refused(7, 1, 1, Reason.BAD_DECLARATION, "name a suit")]
    assert next(requests) == (Answer(7, 1, 2, DECLARATIONS[0]),)
    yield END
    next(requests)


def an_end_without_goodbye(
    requests: Requests, context: grpc.ServicerContext
) -> Iterator[list[FromReferee]]:
    yield from a_start(requests, context)


def a_closed_door(requests: Requests, context: grpc.ServicerContext) -> Iterator[list[FromReferee]]:
    context.set_code(grpc.StatusCode.UNAUTHENTICATED)
    context.set_details("no seat for this ticket")
    yield from ()


def a_closed_door_without_a_word(
    requests: Requests, context: grpc.ServicerContext
) -> Iterator[list[FromReferee]]:
    context.set_code(grpc.StatusCode.UNAUTHENTICATED)
    yield from ()


def another_protocol(
    requests: Requests, context: grpc.ServicerContext
) -> Iterator[list[FromReferee]]:
    next(requests)
    yield [ProtocolRefused(2, 3), Goodbye()]


def first_decision(game: int) -> Decision:
    events = (
        HandStarted(1, Seat(0), Seat(1), (0, 0)),
        PacketDealt(Seat(0), 5, parse_cards("2C 3C 4C 2D 2H")),
    )
    return Decision(game, 1, events, DECLARATIONS[:4], None)


# -- a session


@pytest.fixture
def outcomes() -> list[Outcome]:
    Lowest.outcomes = []
    return Lowest.outcomes


def test_a_bot_plays_a_board_to_its_end(outcomes, monkeypatch) -> None:
    with serving(a_board) as (referee, address):
        run(Lowest, address, monkeypatch)
    assert [outcome.ending for outcome in outcomes] == [Ending.COMPLETED]
    assert referee.tickets == ["ticket of the test"]
    hello = referee.received[0]
    assert isinstance(hello, Hello)
    assert hello.name == "Lowest"
    assert referee.received[-1] == Goodbye()


def test_a_bot_plays_over_a_unix_socket(outcomes, monkeypatch, tmp_path) -> None:
    with serving(a_board, f"unix:{tmp_path}/s") as (_, address):
        run(Lowest, address, monkeypatch)
    assert len(outcomes) == 1


def test_a_proxy_in_the_environment_is_not_used(outcomes, monkeypatch) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 5.0)
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "no_grpc_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving(a_board) as (_, address):
        run(Lowest, address, monkeypatch)
    assert len(outcomes) == 1


def test_what_is_asked_at_once_is_answered(outcomes, monkeypatch) -> None:
    with serving(two_decisions_at_once) as (referee, address):
        run(Lowest, address, monkeypatch)
    assert [type(message) for message in referee.received] == [Hello, Answer, Answer, Goodbye]


def test_what_is_ready_is_sent_as_one_batch() -> None:
    messages: list[FromBot] = [Answer(game, 1, 1, DECLARATIONS[0]) for game in (1, 2, 3)]
    outgoing: SimpleQueue[bytes | None] = SimpleQueue()
    for message in [*messages, Goodbye()]:
        outgoing.put(encode_from_bot([message]))
    outgoing.put(None)
    [batch] = client._batches(outgoing)
    assert decode_from_bot(batch) == (*messages, Goodbye())


def test_what_is_more_than_a_batch_may_have_is_sent_as_several(monkeypatch) -> None:
    answers = [Answer(game, 1, 1, DECLARATIONS[0], note=Note("x" * 200)) for game in range(9)]
    encoded = [encode_from_bot([answer]) for answer in answers]
    monkeypatch.setattr(client, "BATCH_BYTES", 4 * len(encoded[1]) + 3)
    outgoing: SimpleQueue[bytes | None] = SimpleQueue()
    for message in [*encoded, None]:
        outgoing.put(message)
    batches = [decode_from_bot(batch) for batch in client._batches(outgoing)]
    assert list(map(len, batches)) == [4, 4, 1]
    assert [message for batch in batches for message in batch] == answers


def test_an_answer_is_sent_while_the_bot_thinks_about_the_next(monkeypatch) -> None:
    first_is_there = threading.Event()

    class Patient(Lowest):
        @classmethod
        def decide_many(cls, asked: Sequence[Asked]) -> Iterator[tuple[Asked, Action]]:
            for one in asked:
                yield one, one.decide()
                assert first_is_there.wait(30)

    def listens(requests: Requests, context: grpc.ServicerContext) -> Iterator[list[FromReferee]]:
        yield from a_start(requests, context)
        yield [GameStart(MATCH.match, 8, Seat(0), NAMES), first_decision(7), first_decision(8)]
        assert next(requests) == (Answer(7, 1, 1, DECLARATIONS[0]),)
        first_is_there.set()
        assert next(requests) == (Answer(8, 1, 1, DECLARATIONS[0]),)
        yield END
        assert list(requests) == [(Goodbye(),)]

    with serving(listens) as (_, address):
        run(Patient, address, monkeypatch)


def test_a_refused_answer_is_given_anew(outcomes, monkeypatch, caplog) -> None:
    with serving(a_refusal) as (_, address):
        run(Lowest, address, monkeypatch)
    assert "BAD_DECLARATION: name a suit" in caplog.text


def streams(*scripts: Script) -> Script:
    """A script for each stream in turn."""
    waiting = iter(scripts)

    def script(requests: Requests, context: grpc.ServicerContext) -> Iterator[list[FromReferee]]:
        return next(waiting)(requests, context)

    return script


MAY_RESUME = replace(WELCOME, resume_seconds=30.0)


def breaks_after_an_answer(
    requests: Requests, context: grpc.ServicerContext
) -> Iterator[list[FromReferee]]:
    assert isinstance(next(requests)[0], Hello)
    yield [MAY_RESUME, *START[1:], first_decision(7)]
    assert next(requests) == (Answer(7, 1, 1, DECLARATIONS[0]),)
    raise Abort(grpc.StatusCode.UNAVAILABLE)


def breaks_before_the_welcome(
    requests: Requests, context: grpc.ServicerContext
) -> Iterator[list[FromReferee]]:
    next(requests)
    yield []
    raise Abort(grpc.StatusCode.UNAVAILABLE)


def resumes(requests: Requests, context: grpc.ServicerContext) -> Iterator[list[FromReferee]]:
    [hello] = next(requests)
    assert isinstance(hello, Hello)
    assert hello.games == (7,)
    yield [replace(MAY_RESUME, resume_token="another"), MATCH]
    yield [GameStart(MATCH.match, 7, Seat(0), NAMES, resumed=True), first_decision(7)]
    assert next(requests) == (Answer(7, 1, 1, DECLARATIONS[0]),)
    yield END
    assert list(requests) == [(Goodbye(),)]


def test_a_bot_whose_stream_breaks_comes_back_and_gives_the_answer_that_may_be_lost_again(
    monkeypatch, capsys
) -> None:
    asked: list[View] = []

    class Counting(Lowest):
        def declare(self, view: View) -> Trump:
            asked.append(view)
            return DECLARATIONS[0].trump

    script = streams(breaks_after_an_answer, breaks_before_the_welcome, resumes)
    with serving(script) as (referee, address):
        run(Counting, address, monkeypatch)
    assert referee.tokens == [None, "token", "token"]
    assert referee.tickets == ["ticket of the test", None, None]
    assert len(asked) == 1
    said = capsys.readouterr().err
    assert said.count("the stream broke (UNAVAILABLE: as the script says)") == 2
    assert "token" not in said


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.ABORTED])
def test_a_bot_that_is_not_wanted_back_exits_1(code, monkeypatch, capsys) -> None:
    def turns_away(
        requests: Requests, context: grpc.ServicerContext
    ) -> Iterator[list[FromReferee]]:
        next(requests)
        yield []
        raise Abort(code)

    script = streams(breaks_after_an_answer, turns_away)
    with serving(script) as (_, address), pytest.raises(SystemExit) as exit_:
        run(Lowest, address, monkeypatch)
    assert exit_.value.code == 1
    assert f"broke the stream off: {code.name}" in capsys.readouterr().err


def test_an_answer_says_how_long_the_bot_had_the_decision(outcomes, monkeypatch) -> None:
    with serving(two_decisions_at_once) as (referee, address):
        run(Lowest, address, monkeypatch)
    assert len(referee.took_seconds) == 2
    assert all(took is not None and 0 <= took < 30 for took in referee.took_seconds)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (an_end_without_goodbye, "the referee ended the stream without a goodbye"),
        (a_closed_door, "broke the stream off: UNAUTHENTICATED: no seat for this ticket"),
        (
            a_closed_door_without_a_word,
            "broke the stream off: UNAUTHENTICATED: the ticket was used, has expired or names no",
        ),
        (another_protocol, "speaks protocol 1, the referee 2 to 3"),
    ],
)
def test_a_session_that_breaks_exits_1_and_says_why(script, says, monkeypatch, capsys) -> None:
    with serving(script) as (_, address), pytest.raises(SystemExit) as exit_:
        run(Lowest, address, monkeypatch)
    assert exit_.value.code == 1
    assert says in capsys.readouterr().err


def test_what_a_bot_raises_comes_through_and_breaks_the_stream_off(monkeypatch) -> None:
    class Broken(Lowest):
        def game_started(self, view: View) -> None:
            raise ZeroDivisionError

    def waits(requests: Requests, context: grpc.ServicerContext) -> Iterator[list[FromReferee]]:
        yield from a_start(requests, context)
        next(requests)
        raise AssertionError("the bot went on")

    with serving(waits) as (referee, address):
        with pytest.raises(ZeroDivisionError):
            run(Broken, address, monkeypatch)
        assert referee.ended.wait(30)
    assert [type(message) for message in referee.received] == [Hello]


def test_an_interrupted_bot_ends_without_a_traceback(monkeypatch) -> None:
    class Interrupted(Lowest):
        def game_started(self, view: View) -> None:
            raise KeyboardInterrupt

    with serving(a_board) as (referee, address):
        with pytest.raises(SystemExit) as exit_:
            run(Interrupted, address, monkeypatch)
        assert referee.ended.wait(30)
    assert exit_.value.code == 130
    assert [type(message) for message in referee.received] == [Hello]


def test_a_referee_that_is_not_there_is_waited_for_no_longer_than_said(
    monkeypatch, capsys, tmp_path
) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.2)
    with pytest.raises(SystemExit) as exit_:
        run(Lowest, f"unix:{tmp_path}/nobody", monkeypatch)
    assert exit_.value.code == 1
    assert f"no referee at unix:{tmp_path}/nobody within 0.2 s" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["HOKM_ADDRESS", "HOKM_TICKET"])
def test_a_bot_that_no_arena_started_says_how_it_is_started(missing, monkeypatch, capsys) -> None:
    for name in {"HOKM_ADDRESS", "HOKM_TICKET"}:
        monkeypatch.setenv(name, "something")
    monkeypatch.delenv(missing)
    with pytest.raises(SystemExit) as exit_:
        hokm.run(Lowest)
    assert exit_.value.code == 2
    said = capsys.readouterr().err
    assert "arena match" in said
    assert "something" not in said  # a ticket is a secret


class Tuned(Lowest):
    parameters = {"caution": 0.5, "depth": 3}  # noqa: RUF012  # as authors write it


def test_the_arena_gives_a_bot_its_parameters(outcomes, monkeypatch) -> None:
    monkeypatch.setattr(Tuned, "parameters", Tuned.parameters)  # put back at the end
    monkeypatch.setenv("HOKM_PARAMETERS", '{"depth": 5, "more": 0.25}')
    with serving(a_board) as (_, address):
        run(Tuned, address, monkeypatch)
    assert len(outcomes) == 1
    assert Tuned.parameters == {"caution": 0.5, "depth": 5, "more": 0.25}
    assert Lowest.parameters == {}


@pytest.mark.parametrize("text", ["depth=5", "[5]", '{"depth": "5"}', '{"depth": true}'])
def test_parameters_that_are_none_are_refused_at_once(text, monkeypatch, capsys) -> None:
    for name in ("HOKM_ADDRESS", "HOKM_TICKET"):
        monkeypatch.setenv(name, "something")
    monkeypatch.setenv("HOKM_PARAMETERS", text)
    with pytest.raises(SystemExit) as exit_:
        hokm.run(Tuned)
    assert exit_.value.code == 2
    assert "HOKM_PARAMETERS is no JSON object of numbers" in capsys.readouterr().err


def test_only_a_bot_class_that_can_play_is_run() -> None:
    class Unfinished(Bot):
        pass

    with pytest.raises(TypeError, match=r"as in run\(MyBot\), not <.*Lowest object"):
        hokm.run(Lowest())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Unfinished cannot play yet: it lacks play"):
        hokm.run(Unfinished)  # type: ignore[type-abstract]


# -- a process

BOT = """
from hokm import Bot

class Mine(Bot):
    def play(self, view):
        print("playing from", len(view.hand))
        return view.playable[0]
"""


def test_a_bots_process_exits_0_after_goodbye_and_its_output_is_its_own(tmp_path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(BOT)
    with serving(a_board) as (_, address):
        done = run_file(file, address)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("playing from 13\n")


def test_a_bots_process_exits_1_with_a_traceback_after_an_error(tmp_path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(BOT.replace("return", "1 / 0; return"))
    with serving(a_board) as (referee, address):
        done = run_file(file, address)
        assert referee.ended.wait(30)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert "ZeroDivisionError" in done.stderr
    assert str(file) in done.stderr
    assert Goodbye not in {type(message) for message in referee.received}


def test_a_refusal_is_on_stderr_without_any_set_up(tmp_path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(BOT)
    with serving(a_refusal) as (_, address):
        done = run_file(file, address)
    assert done.returncode == 0
    assert "attempt 1: declare C was refused: BAD_DECLARATION: name a suit\n" in done.stderr


def test_the_game_alone_does_not_load_grpc() -> None:
    program = "import sys, hokm.testing; print({'grpc', 'google.protobuf'} & set(sys.modules))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "set()\n"
