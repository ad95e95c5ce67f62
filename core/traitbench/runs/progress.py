"""How long a run still takes: the work that is left, at the pace at which the run has worked so far.

Work is counted in seconds on a reference machine. The pace is the time by the clock for each of them. It is measured
for the run as a whole and for each phase, because a machine may be slow at one kind of work and fast at another. Recent
work counts most, so that the forecast follows a machine that becomes busy.
"""

from collections.abc import Callable, Mapping
from math import exp
from time import monotonic

_FORGOTTEN_AFTER = 15.0  # seconds; the time constant of the exponential decay
_PRIOR = 0.1  # reference seconds of work that a pace of 1 counts for
_PRIOR_OF_PHASE = 0.3  # reference seconds of work that the pace of the whole run counts for in a phase


class _Pace:
    """Seconds by the clock and the work done in them, both decaying."""

    def __init__(self) -> None:
        self.seconds = self.work = 0.0

    def add(self, seconds: float, work: float) -> None:
        fading = exp(-seconds / _FORGOTTEN_AFTER)
        self.seconds = fading * self.seconds + seconds
        self.work = fading * self.work + work

    def against(self, expected: float, weight: float) -> float:
        """Seconds for each unit of work; `expected` counts for `weight` units."""
        return (self.seconds + weight * expected) / (self.work + weight)


class Timeline:
    """The phases of a run, in order, each with its expected work."""

    def __init__(self, work: Mapping[str, float], *, clock: Callable[[], float] = monotonic) -> None:
        self._work, self._clock = dict(work), clock
        self._done = dict.fromkeys(work, 0.0)
        self._phase = next(iter(work))
        self._overall, self._by_phase = _Pace(), {phase: _Pace() for phase in work}
        self._began = self._heard = clock()

    def expect(self, phase: str, work: float) -> None:
        """Set the work of a phase, once it is known."""
        self._work[phase] = work

    def reach(self, phase: str, share: float = 0.0) -> None:
        """So much of a phase (0 to 1) is done, and all of the phases before it."""
        now = self._clock()
        before = list(self._work)[: list(self._work).index(phase)]
        progress = 0.0
        for each, goal in (*((each, 1.0) for each in before), (phase, share)):
            done = max(self._done[each], goal * self._work[each])
            progress += done - self._done[each]
            self._done[each] = done
        # At the start of a phase, the time since the last report belongs to the phase before.
        worked_on = self._phase if share == 0.0 else phase
        self._by_phase[worked_on].add(now - self._heard, progress)
        self._overall.add(now - self._heard, progress)
        self._heard, self._phase = now, phase

    @property
    def pace(self) -> float:
        """Seconds by the clock for each unit of work, recently."""
        return self._overall.against(1.0, _PRIOR)

    @property
    def left_s(self) -> float:
        """Seconds that the run will still take."""
        pace = self.pace
        return sum(
            (self._work[phase] - self._done[phase]) * own.against(pace, _PRIOR_OF_PHASE)
            for phase, own in self._by_phase.items()
        )

    @property
    def fraction(self) -> float:
        """The share of the whole time that has passed, 0 to 1."""
        passed = self._clock() - self._began
        whole = passed + self.left_s
        return passed / whole if whole > 0 else 1.0
