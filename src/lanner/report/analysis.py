"""`Analysis`: what an analysis file stands for, with its samples read when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from lanner.errors import InputError
from lanner.events.analysis.declared import AnalysisFile
from lanner.events.analysis.file import read_analysis_file
from lanner.events.analysis.reference import ProcessedReference, read_data, read_simulated
from lanner.events.analysis.regions import masks_of_regions, selection_with
from lanner.events.io import Events
from lanner.events.regions import Region
from lanner.report.characterise import Characterisation, characterise
from lanner.report.look import Look
from lanner.run.prepare import FROM_WEIGHTS
from lanner.run.regions import search_regions
from lanner.run.regions_result import RegionsResult
from lanner.run.result import SearchResult
from lanner.run.search import search
from lanner.typing import PathLike
from lanner.uncertainties.declared import Uncertainty
from lanner.uncertainties.of_analysis import uncertainties_of_analysis

_OF_FILES = ("output", "drop_nan", "extra")  # settings that the command line alone has a use for


@dataclass(frozen=True, eq=False)
class Analysis:
    r"""An analysis file, and its samples.

    Parameters
    ----------
    file : AnalysisFile
        What the file says.
    memory : float or str or None, default None
        Memory to use at most while reading, as for `read_sample`.

    See Also
    --------
    read_analysis : Make one of a file.

    Examples
    --------
    >>> import lanner, tempfile
    >>> from pathlib import Path
    >>> text = "samples: {top: {files: top.csv}}\nfeatures: {pt: {unit: GeV}}\nsettings: {seed: 1}\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "top.csv").write_text("pt\n1\n2\n3\n")
    ...     _ = Path(folder, "analysis.yaml").write_text(text)
    ...     analysis = lanner.read_analysis(Path(folder, "analysis.yaml"))
    ...     analysis.settings, analysis.look.axes
    ({'expected': 'weights', 'seed': 1}, {'pt': 'pt [GeV]'})
    """

    file: AnalysisFile
    memory: float | str | None = field(default=None, repr=False)

    @cached_property
    def reference(self) -> ProcessedReference:
        """The simulated events, whose weights add up to the events expected, and of which process each is."""
        return read_simulated(self.file, memory=self.memory)

    @cached_property
    def data(self) -> Events:
        """The data, with the same selection."""
        return read_data(self.file, memory=self.memory)

    @cached_property
    def regions(self) -> dict[str, Region]:
        """Which events of the reference and of the data lie in each region, by its name."""
        of_data = masks_of_regions(self.file, self.data)
        of_reference = self.reference.regions
        return {name: Region(name, of_reference[name], of_data[name], text) for name, text in self.file.regions.items()}

    @cached_property
    def uncertainties(self) -> tuple[Uncertainty, ...]:
        """The uncertainties of the reference, with the weights, labels and samples that they are made of."""
        return uncertainties_of_analysis(self.file, self.reference, memory=self.memory)

    @property
    def settings(self) -> dict[str, Any]:
        """What `search` is given beside the samples."""
        periodic = {f.name: f.periodic for f in self.file.features if f.periodic is not None}
        given = {"expected": FROM_WEIGHTS, **self.file.settings}
        if periodic:
            given = {"periodic": [f"{name}={turn:.17g}" for name, turn in periodic.items()], **given}
        return given

    @property
    def look(self) -> Look:
        """The words for axes, and the processes of the reference."""
        axes = {f.name: f.axis for f in self.file.features if f.label is not None or f.unit is not None}
        return Look(axes, self.reference.processes, self.reference.process)

    def search(self, **settings: Any) -> SearchResult:
        """Test whether the data follow the simulated samples.

        Parameters
        ----------
        **settings
            As for `lanner.search`; they come before those of the file, `uncertainties` in the place of all of these.

        Returns
        -------
        SearchResult
            As `lanner.search` gives it.
        """
        plain = {name: value for name, value in self.settings.items() if name not in _OF_FILES}
        if plain["expected"] == "observed":  # as the command line spells it
            plain["expected"] = None
        given = {**plain, **settings}
        if "uncertainties" not in given:
            given["uncertainties"] = self.uncertainties
        return search(self.reference.sample, self.data.sample, **given)

    def search_regions(self, **settings: Any) -> RegionsResult:
        """Test each region of the file by itself, and all of them together.

        Parameters
        ----------
        **settings
            As for `lanner.search_regions`; they come before those of the file.

        Returns
        -------
        RegionsResult
            As `lanner.search_regions` gives it.

        Raises
        ------
        InputError
            If the file has no regions, or one of them cannot be tested; the message names its line.
        """
        if not self.file.regions:
            raise InputError(f"{self.file.path} has no regions: add `regions:` with a formula under each name")
        if self.file.uncertainties:
            raise InputError(
                f"{self.file.where('uncertainties')}: uncertainties: regions are searched without, and a search of one "
                "selection takes them: leave out the regions or the uncertainties"
            )
        plain = {name: value for name, value in self.settings.items() if name not in _OF_FILES}
        try:
            return search_regions(
                self.reference.sample, self.data.sample, regions=self.regions, **{**plain, **settings}
            )
        except InputError as error:
            for name in self.file.regions:
                start = f"region {name!r}: "
                if str(error).startswith(start):
                    where = self.file.where("regions", name)
                    raise InputError(f"{where}: regions.{name}: {str(error).removeprefix(start)}") from None
            raise

    def in_region(self, name: str) -> Analysis:
        """Return the same analysis with the events of one region alone, such as to show where its data depart.

        Parameters
        ----------
        name : str
            Of the region.

        Returns
        -------
        Analysis
            With the region as a part of the selection, and without regions.
        """
        if name not in self.file.regions:
            raise InputError(f"{name!r} is none of the regions {', '.join(map(repr, self.file.regions))}")
        return replace(self, file=replace(self.file, selection=selection_with(self.file, name), regions={}))

    def characterise(self, result: SearchResult) -> Characterisation:
        """Show where the data depart, with the processes stacked.

        Parameters
        ----------
        result : SearchResult
            What `search` returned.

        Returns
        -------
        Characterisation
            As `lanner.characterise` gives it.
        """
        return characterise(result, self.reference.sample, self.data.sample, data_rows=self.data.rows, look=self.look)


def read_analysis(path: PathLike, *, memory: float | str | None = None) -> Analysis:
    r"""Read an analysis file: simulated samples with cross-sections and weights, data, features, selection, settings.

    Parameters
    ----------
    path : path_like
        A YAML file; `lanner init` writes one to fill in.
    memory : float or str or None, default None
        Memory to use at most while its samples are read.

    Returns
    -------
    Analysis
        Its samples are read when they are asked for first.

    Raises
    ------
    InputError
        If the file says what cannot be meant; the message names the line and the key.

    See Also
    --------
    read_sample : Read one sample of files.

    Examples
    --------
    >>> import lanner, tempfile
    >>> from pathlib import Path
    >>> text = "samples: {top: {files: top.csv, weights: w}}\nfeatures: [pt]\nselection: pt > 1\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "top.csv").write_text("pt,w\n1,0.5\n2,0.5\n3,0.25\n")
    ...     _ = Path(folder, "analysis.yaml").write_text(text)
    ...     analysis = lanner.read_analysis(Path(folder, "analysis.yaml"))
    ...     analysis.reference.yields()[0].expected
    0.75
    """
    return Analysis(read_analysis_file(path), memory)
