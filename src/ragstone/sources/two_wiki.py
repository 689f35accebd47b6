"""2WikiMultihopQA: as HotpotQA, with the triples that lead to the answer."""

from typing import ClassVar

from ragstone.sources.hotpotqa import Hotpotqa
from ragstone.types import About


class TwoWiki(Hotpotqa):
    """2WikiMultihopQA's official JSON."""

    about: ClassVar[About] = About(
        name="2WikiMultihopQA",
        language="en",
        sources=("2WikiMultihopQA (Ho et al. 2020)",),
        licences=("Apache-2.0", "text: CC BY-SA"),
    )
    triples: ClassVar[bool] = True
