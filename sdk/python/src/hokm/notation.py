"""One hand as a short text that can be pasted into a bug report, read back and played again.

::

    hokm 4 hakem 0 pause_after=first_round
    deck 6C 7D …
    trump S
    plays 9C 6C JH 4H / …

The first line names the players, ``race`` where the hand is one of a race, ``hand`` and its number
where that is not 1, the hakem, and the options that are not the default. White space and line
breaks are free, a word begins its section wherever it stands, ``#`` begins a comment. What is not
decided yet is not there; the result follows from the play and is not written down.

This module knows no file. Whether the play keeps the rules is for :func:`hand_events` to say.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap
from typing import Final

from hokm.actions import CUTS, Draw
from hokm.cards import Card, Seat, Trump, cards_text
from hokm.errors import NotationError, RulesError, quoted
from hokm.events import Event
from hokm.records.encode import DRAW_LETTERS
from hokm.records.replays import hand_played
from hokm.records.values import HandRecord
from hokm.rules.options import Play, Rules
from hokm.rules.variants import variant_of

LARGEST_CHARACTERS: Final = 2**20
"""No text over this is read: it has room for some two thousand hands."""

LARGEST_NUMBER: Final = 10_000
"""Of a hand in its race."""

_COLUMNS: Final = 78
"""What fits a terminal, and a mail that quotes it once."""

_MOST_DISCARDS: Final = 2
"""Each seat of a two-seat hand discards once (rulebook 4.2)."""

_KEYWORDS: Final = ("hokm", "deck", "cut", "trump", "discards", "draws", "plays")

_DRAW_OF: Final[Mapping[str, Draw]] = {letter: draw for draw, letter in DRAW_LETTERS.items()}


def hand_text(rules: Rules, hand: HandRecord) -> str:
    """The hand in some ten lines, that :func:`parse_hand` reads back but for its result."""
    sections = [
        ("hokm", _header(rules, hand)),
        ("deck", cards_text(hand.deck)),
        ("cut", "" if hand.cut is None else str(hand.cut)),
        ("trump", "" if hand.trump is None else hand.trump.letter),
        ("discards", " / ".join(map(cards_text, hand.discards))),
        ("draws", "".join(map(DRAW_LETTERS.__getitem__, hand.draws))),
        ("plays", " / ".join(map(cards_text, _tricks(hand.plays, seats=rules.players)))),
    ]
    lines = [line for keyword, text in sections if text for line in _wrapped(keyword, text)]
    return "\n".join(lines) + "\n"


def parse_hand(text: str) -> tuple[Rules, HandRecord]:
    """Read one hand. Raises :class:`~hokm.errors.NotationError` that says where the text is wrong
    and what was expected.
    """
    hands = parse_hands(text)
    if len(hands) != 1:
        raise NotationError(f"there are {len(hands)} hands in this text; expected one")
    return hands[0]


def parse_hands(text: str) -> tuple[tuple[Rules, HandRecord], ...]:
    """Read one hand or several, each beginning with ``hokm``; raises as :func:`parse_hand`."""
    if len(text) > LARGEST_CHARACTERS:
        raise NotationError(f"over {LARGEST_CHARACTERS} characters: no hand is that long")
    words = list(_words(text))
    if not words:
        raise NotationError("there is no hand in this text: a hand begins with 'hokm'")
    if words[0].keyword != "hokm":
        raise words[0].wrong("'hokm', with which a hand begins")
    starts = [at for at, word in enumerate(words) if word.keyword == "hokm"]
    return tuple(
        _read_hand(words[start:end]) for start, end in zip(starts, [*starts[1:], None], strict=True)
    )


def hand_events(rules: Rules, hand: HandRecord) -> Iterator[Event]:
    """Every event of the hand, whole and in order, as far as it goes.

    The points before it and the next hakem are of the game, not of the hand: the first are zero,
    the other None. Raises :class:`~hokm.records.ReplayError` where the hand leaves the rules.
    """
    return hand_played(rules, hand)


def options_chosen(rules: Rules) -> list[str]:
    """The options of a table that are not the default, as ``name=value``."""
    default = Rules.of(rules.players, play=rules.play).options()
    return [f"{name}={text}" for name, text in rules.options().items() if text != default[name]]


# -- writing


def _header(rules: Rules, hand: HandRecord) -> str:
    words = [
        str(rules.players),
        *(["race"] if rules.play is Play.RACE else []),
        *(["hand", str(hand.number)] if hand.number != 1 else []),
        "hakem",
        str(hand.hakem),
        *options_chosen(rules),
    ]
    return " ".join(words)


def _tricks(plays: Sequence[Card], *, seats: int) -> list[Sequence[Card]]:
    return [plays[first : first + seats] for first in range(0, len(plays), seats)]


def _wrapped(keyword: str, text: str) -> list[str]:
    return wrap(
        f"{keyword} {text}",
        width=_COLUMNS,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


# -- reading


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, or a "/", and where it stands, both from 1."""

    text: str
    line: int
    column: int

    @property
    def keyword(self) -> str | None:
        """The section it begins, if it begins one; letters may be large."""
        lower = self.text.lower()
        return lower if lower in _KEYWORDS else None

    def wrong(self, expected: str) -> NotationError:
        """The error to raise: another word was expected here."""
        shown = self.text if len(self.text) <= 20 else f"{self.text[:20]}…"
        return self.error(f"expected {expected}, not {shown!r}")

    def error(self, what: str) -> NotationError:
        """The error to raise: something is wrong here."""
        return NotationError(f"line {self.line}, column {self.column}: {what}")

    def number(self, low: int, high: int, *, of: str) -> int:
        # int() would read "+7" and digits of other scripts too.
        if re.fullmatch(r"[0-9]{1,9}", self.text) and low <= int(self.text) <= high:
            return int(self.text)
        raise self.wrong(f"{of}, a number from {low} to {high}")

    def card(self) -> Card:
        try:
            return Card.parse(self.text)
        except NotationError:
            raise self.wrong("a card, such as TC for the ten of clubs") from None


def _words(text: str) -> Iterator[_Word]:
    for number, line in enumerate(text.split("\n"), start=1):
        for found in re.finditer(r"/|[^\s/]+", line.partition("#")[0]):
            yield _Word(found[0], number, found.start() + 1)


def _read_hand(words: Sequence[_Word]) -> tuple[Rules, HandRecord]:
    sections = _sections(words)
    head = words[0]
    rules, number, hakem = _read_header(head, sections["hokm"].words)
    for name in ("discards", "draws"):
        if name in sections and not variant_of(rules).stock:
            raise sections[name].keyword.error(f"nothing is drawn with {rules.players} players")
    if "cut" in sections and not rules.cut:
        raise sections["cut"].keyword.error("nobody cuts here: expected cut=on in a race of four")
    if "deck" not in sections:
        raise head.error("this hand has no deck: expected 'deck' and its cards, the top first")
    return rules, HandRecord(
        number=number,
        deck=_read_deck(sections["deck"], variant_of(rules).pack),
        hakem=hakem,
        cut=_read_cut(sections["cut"]) if "cut" in sections else None,
        trump=_read_trump(sections["trump"]) if "trump" in sections else None,
        discards=_read_discards(sections["discards"]) if "discards" in sections else (),
        draws=_read_draws(sections["draws"]) if "draws" in sections else (),
        plays=_read_plays(sections["plays"], rules.players) if "plays" in sections else (),
    )


@dataclass(frozen=True, slots=True)
class _Section:
    keyword: _Word
    words: tuple[_Word, ...]

    def only(self, expected: str) -> _Word:
        """The one word of this section."""
        if not self.words:
            raise self.keyword.error(f"expected {expected} after {self.keyword.text!r}")
        if len(self.words) > 1:
            raise self.words[1].wrong(f"one of {', '.join(_KEYWORDS[1:])}, or the end")
        return self.words[0]

    def groups(self) -> list[list[_Word]]:
        """The words between the slashes; an empty group is none."""
        by_slash = groupby(self.words, key=lambda word: word.text == "/")
        return [list(group) for is_slash, group in by_slash if not is_slash]


def _sections(words: Sequence[_Word]) -> dict[str, _Section]:
    starts = [at for at, word in enumerate(words) if word.keyword]
    sections: dict[str, _Section] = {}
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        keyword = words[start]
        name = keyword.keyword
        assert name is not None
        if name in sections:
            raise keyword.error(f"{name!r} is there twice in one hand")
        sections[name] = _Section(keyword, tuple(words[start + 1 : end]))
    return sections


def _read_header(head: _Word, words: Sequence[_Word]) -> tuple[Rules, int, Seat]:
    if not words:
        raise head.error("expected the number of players after 'hokm', as in 'hokm 4 hakem 0'")
    players = words[0].number(2, 4, of="how many play")
    play, number, hakem = Play.BOARDS, 1, None
    options: dict[str, str] = {}
    rest = iter(words[1:])
    for word in rest:
        match word.text.lower():
            case "race":
                play = Play.RACE
            case "hand":
                number = _next(rest, word).number(1, LARGEST_NUMBER, of="the hand of its race")
            case "hakem":
                hakem = Seat(_next(rest, word).number(0, players - 1, of="a seat"))
            case _:
                name, equals, value = word.text.partition("=")
                if not equals:
                    raise word.wrong("race, hand, hakem or an option such as play_out=on")
                if name in options:
                    raise word.error(f"the option {quoted(name)} is there twice")
                options[name] = value
    if hakem is None:
        raise head.error("it does not say who is hakem: expected 'hakem' and a seat")
    try:
        return Rules.of(players, play=play, options=options), number, hakem
    except RulesError as error:
        raise head.error(str(error)) from None


def _next(words: Iterator[_Word], after: _Word) -> _Word:
    for word in words:
        return word
    raise after.error(f"expected a number after {after.text!r}")


def _read_deck(section: _Section, pack: Sequence[Card]) -> tuple[Card, ...]:
    deck = tuple(word.card() for word in section.words)
    if sorted(deck) == list(pack):
        return deck
    for card, times in Counter(deck).items():
        if times > 1:
            raise section.keyword.error(f"{card} is {times} times in the deck")
    for card in deck:
        if card not in pack:
            raise section.keyword.error(f"{card} is in the deck, and was taken out of the pack")
    missing = [card for card in pack if card not in deck]
    raise section.keyword.error(
        f"expected the {len(pack)} cards of the pack; missing: {cards_text(missing)}"
    )


def _read_cut(section: _Section) -> int:
    word = section.only("the number of cards that were cut")
    return word.number(1, CUTS[-1].position, of="cards to cut")


def _read_trump(section: _Section) -> Trump:
    expected = "C, D, H, S, SAR, NAR or TAK_NAR"
    word = section.only(expected)
    try:
        return Trump.parse(word.text.upper())
    except NotationError:
        raise word.wrong(expected) from None


def _read_discards(section: _Section) -> tuple[tuple[Card, ...], ...]:
    groups = section.groups()
    if not 1 <= len(groups) <= _MOST_DISCARDS:
        raise section.keyword.error(
            f"expected the hakem's discards, '/' and the other's; there are {len(groups)} groups"
        )
    return tuple(tuple(word.card() for word in group) for group in groups)


def _read_draws(section: _Section) -> tuple[Draw, ...]:
    draws: list[Draw] = []
    for word in section.words:
        for letter in word.text.upper():
            if letter not in _DRAW_OF:
                raise word.wrong("K for each card kept and R for each refused")
            draws.append(_DRAW_OF[letter])
    return tuple(draws)


def _read_plays(section: _Section, seats: int) -> tuple[Card, ...]:
    """Tricks may be kept apart or not; where they are, a card that was dropped is found."""
    groups = section.groups()
    for group in groups[:-1]:
        if len(group) % seats:
            raise group[0].error(f"this trick has {len(group)} cards; expected {seats}")
    return tuple(word.card() for group in groups for word in group)
