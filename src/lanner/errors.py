"""Errors and warnings of Lanner: each says what was given, what was needed and what to do next."""


class LannerError(Exception):
    """Base of every error that Lanner raises on purpose."""


class InputError(LannerError, ValueError):
    """The samples or settings given cannot be used as they are."""


class EmptySampleError(InputError):
    """A file has no events, or a selection leaves none."""


class BatchError(InputError):
    """A batch that a monitor cannot count; it is recorded, and the stream goes on."""


class UnknownSettingError(InputError, TypeError):
    """A keyword, a flag or a key of a configuration file that nothing is called by; the nearest names are offered."""


class NotConvexError(LannerError, ValueError):
    """Negative event weights outweigh the positive ones: the fit has no minimum."""


class MemoryBudgetError(MemoryError, LannerError):  # in this order, or __new__ would refuse the class
    """The memory budget is too small for even one block of the computation."""


class LannerWarning(UserWarning):
    """Base of every warning that Lanner gives."""


class ConvergenceWarning(LannerWarning):
    """A fit stopped before it reached its tolerance."""


class SeparationWarning(LannerWarning):
    """Data and reference hardly overlap: the ratio is limited by the penalty, not by the events."""


class FileError(LannerError, OSError):
    """A file cannot be written; what was there before is safe."""


class FolderError(InputError):
    """The files of a folder do not belong together: one is missing, changed, or of another run."""


class StoreError(LannerError):
    """The store of toys cannot be used as it is; toys that were stored are safe."""


class ClusterError(LannerError):
    """The cluster cannot be reached, or its workers do not survive; toys that were stored are safe."""


class StoreWarning(LannerWarning):
    """Something in the store of toys had to be done again."""


class ClusterWarning(LannerWarning):
    """Samples cross a network for everybody to read."""


class CountWarning(LannerWarning):
    """The number of data events contradicts the expected one by itself."""


class SameEventsWarning(LannerWarning):
    """Reference and data are the same events, or come from the same file, so that they cannot disagree."""


class ConstantWarning(LannerWarning):
    """Data have another value where the reference has only one."""


class ColumnWarning(LannerWarning):
    """Columns that are no features are not tested, or a variable for plots has no value in some events."""


class NullWarning(LannerWarning):
    """The reference is small for toys of its own, or events are copied: p-values come out too small."""


class WeightWarning(LannerWarning):
    """Negative event weights outweigh the positive ones in places, or toys do not follow the weights well enough."""


class ReachWarning(LannerWarning):
    """Data events lie out of reach of the centres of a single width, where its statistic hardly sees them."""


class UncertaintyWarning(LannerWarning):
    """A systematic uncertainty does nothing, and is left out."""


class ClosureWarning(LannerWarning):
    """A learned variation does not reproduce the varied events as well as the data's statistics ask for."""
