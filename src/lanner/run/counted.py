"""What follows from a statistic and its null toys by counting these: the p-value of a result of any kind."""

from __future__ import annotations

import math

from lanner.inference.null import Null
from lanner.inference.sequential import Stopping
from lanner.inference.significance import EmpiricalP, z_of_log_p
from lanner.inference.tail import FittedTail
from lanner.run.parts import Extrapolation

_WELL_COUNTED = 12  # toys as extreme as the data by which p is known to 30 %, where "auto" stops making more


class Counted:
    """A statistic whose p-value is a count of null toys."""

    statistic: float
    null: Null
    stopping: Stopping | None

    @property
    def empirical(self) -> EmpiricalP:
        """The empirical p-value with the number of toys behind it and of those as extreme as the data."""
        found = None if self.stopping is None else self.stopping.judge(self.statistic, self.null.statistics)
        return self.null.empirical(self.statistic) if found is None else found

    @property
    def p_value(self) -> float:
        """The empirical p-value (k + 1) / (n + 1) if k of n toys are as extreme as the data; a bound where k is 0."""
        return self.empirical.p_value

    @property
    def p_value_interval(self) -> tuple[float, float]:
        """The 95 % Clopper-Pearson interval of the chance that a toy is as extreme as the data."""
        return self.empirical.interval

    @property
    def z_score(self) -> float:
        """One-sided Z of `p_value`; a lower bound if no toy is as extreme as the data."""
        return self.empirical.z_score

    def _by_tail(self, tail: FittedTail | None) -> Extrapolation | None:
        """By the tail fitted to the highest toys, where these alone leave p uncertain."""
        t = self.statistic
        if tail is None or t <= tail.threshold or self.empirical.exceedances >= _WELL_COUNTED:
            return None
        log_p = tail.log_p(t)
        return Extrapolation(math.exp(log_p), z_of_log_p(log_p), tail.z_error(t), is_bound=t > tail.limit)
