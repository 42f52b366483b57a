"""Figures about a referee at work, and the endpoint where a monitoring system reads them.

Counting is a few additions on plain numbers; what they are called and how they are written is for
the moment somebody reads them, in prometheus_client (of the extra ``server``). Labels are words of
this program only: no name, no match and no text of a bot is ever one.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

import arena
from arena.referee.meter import Meter, TurnedAway
from arena.referee.serving import host_and_port
from hokm.outcome import Ending

DELAYS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Bounds in seconds of what passes inside the referee: 0.1 ms with one game, tens with hundreds."""

CHARGES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10, 30.0)
"""Bounds in seconds of what a decision is charged; by default a move has 1 s and a hand 30 more."""


LADDER = {
    "paused": "Whether the operator paused or drains it: 1 or 0.",
    "alarm": "Whether nothing rated was decided for too long: 1 or 0.",
    "last_rated_timestamp_seconds": "When a rated match was last decided; 0: not since the start.",
    "matches_under_way": "Matches that are being played.",
    "submissions_waiting": "Submissions that wait to be validated.",
    "submissions_validating": "Submissions that are being validated.",
}
"""What a ladder that stands says of itself, by name."""


class Histogram:
    """How many values lie up to each bound, and what they add up to.

    >>> histogram = Histogram((1.0, 2.0))
    >>> histogram.add([0.5, 1.0, 5.0])
    >>> histogram.counts, histogram.total
    ([2, 0, 1], 6.5)
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """By bound, none of them in two; the last beyond all bounds."""
        self.total = 0.0

    def add(self, values: Iterable[float]) -> None:
        """Count values."""
        bounds, counts, total = self.bounds, self.counts, self.total
        for value in values:
            counts[bisect_left(bounds, value)] += 1
            total += value
        self.total = total


class Figures(Meter):
    """A meter that counts. Each figure has one thread that changes it, and any may read it."""

    def __init__(self) -> None:
        self.games_under_way = 0
        self.games: Counter[Ending] = Counter()
        self.answers = 0
        self.delays = Histogram(DELAYS)
        self.charges = Histogram(CHARGES)
        self.writes = Histogram(DELAYS)
        self.streams = 0
        self.streams_opened = 0
        self.turned: Counter[TurnedAway] = Counter()
        self.queue_age: Callable[[], float] = float  # 0.0
        self.ladder: Callable[[], Mapping[str, float]] | None = None

    def stream_opened(self) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        self.streams += 1
        self.streams_opened += 1

    def stream_closed(self) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        self.streams -= 1

    def turned_away(self, why: TurnedAway) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        self.turned[why] += 1

    def written(self, seconds: float) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        self.writes.add((seconds,))

    def queue_age_by(self, age: Callable[[], float]) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        self.queue_age = age

    def ladder_by(self, read: Callable[[], Mapping[str, float]]) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        self.ladder = read

    def judged(self, heard: Iterable[tuple[object, float]], now: float) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        delays = [now - read_at for _, read_at in heard]
        self.answers += len(delays)
        self.delays.add(delays)

    def game_began(self) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        self.games_under_way += 1

    def game_ended(self) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        self.games_under_way -= 1

    def game_over(self, ending: Ending, charged_seconds: Iterable[Iterable[float]]) -> None:
        """See :class:`~arena.referee.meter.Meter`."""
        self.games[ending] += 1
        for hand in charged_seconds:
            self.charges.add(hand)


@contextmanager
def served(figures: Figures, listen: str) -> Iterator[str]:
    """Answer at ``host:port`` under ``/metrics`` while this is open; gives the address.

    The answer is OpenMetrics where that is asked for, else Prometheus' older text. It is given by a
    thread of its own. Raises OSError where the address cannot be bound, ServingError for what is no
    address.
    """
    host, port = host_and_port(listen)
    try:
        server, thread = start_http_server(port, host.strip("[]"), registry_of(figures))
    except OSError as error:
        raise OSError(f"cannot listen at {listen} for metrics: {error.strerror}") from error
    try:
        yield f"http://{host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def registry_of(figures: Figures) -> CollectorRegistry:
    """What prometheus_client writes out: the figures, and CPU, memory and files of the process."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(figures))
    ProcessCollector(registry=registry)
    return registry


class _Figures(Collector):
    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterable[Metric]:
        """The figures as they are now."""
        figures = self._figures
        yield InfoMetricFamily("hokm_arena", "This arena.", {"version": arena.__version__})
        yield GaugeMetricFamily(
            "hokm_games_under_way", "Games that are being played.", figures.games_under_way
        )
        games = CounterMetricFamily(
            "hokm_games", "Games that are over, by how they ended.", labels=["ending"]
        )
        for ending in Ending:
            games.add_metric([ending.value], figures.games[ending])
        yield games
        yield CounterMetricFamily(
            "hokm_answers",
            "Bots' answers that were judged, refused ones included.",
            figures.answers,
        )
        yield CounterMetricFamily(
            "hokm_decisions",
            "Decisions that were taken, counted when their game is over.",
            sum(figures.charges.counts),
        )
        yield _family(
            "hokm_referee_delay_seconds",
            "From the reading of an answer until it was judged; charged to nobody.",
            figures.delays,
        )
        yield _family(
            "hokm_write_seconds",
            "From the posting of a batch until its write returned.",
            figures.writes,
        )
        yield GaugeMetricFamily(
            "hokm_queue_age_seconds",
            "How long the oldest batch that is not written has waited.",
            figures.queue_age(),
        )
        yield _family(
            "hokm_charged_seconds",
            "What decisions were charged, counted when their game is over.",
            figures.charges,
        )
        yield GaugeMetricFamily("hokm_streams", "Streams that are open.", figures.streams)
        yield CounterMetricFamily(
            "hokm_streams_opened",
            "Streams that came, with whatever ticket.",
            figures.streams_opened,
        )
        turned = CounterMetricFamily(
            "hokm_streams_turned_away", "Streams that were not let in, by why.", labels=["reason"]
        )
        for reason in TurnedAway:
            turned.add_metric([reason.value], figures.turned[reason])
        yield turned
        if figures.ladder is not None:
            found = figures.ladder()
            for name, text in LADDER.items():
                yield GaugeMetricFamily(f"hokm_ladder_{name}", text, found[name])


def _family(name: str, text: str, histogram: Histogram) -> HistogramMetricFamily:
    counts = list(histogram.counts)  # a copy, so that the last is the sum of all
    bounds = [*map(floatToGoString, histogram.bounds), "+Inf"]
    buckets = list(zip(bounds, map(float, accumulate(counts)), strict=True))
    return HistogramMetricFamily(name, text, buckets=buckets, sum_value=histogram.total)
