"""Years in text, and the short ends of ranges; no other numbers."""

import re
from collections.abc import Iterator

YEAR = re.compile(
    r"(?<![\d$€£¥.,:#_&=%+])(?<![A-Za-z])(?P<year>1\d{3}|20\d{2})(?P<end>[–\-/—]\d{2}(?![\d]|[-/]\d))?(?P<s>['’]?s)?"
    r"(?![\d%_])(?!,\d{3})(?!\.\d)(?![A-Za-z])"
)
CODE_BEFORE = re.compile(r"(?<!\d)(?!1\d{3}|20\d{2})\d+[-–—/]$")
COUNTED = re.compile(
    r"\s*-?(?:metres?|meters?|m|km|kilomet\w+|miles?|mi|feet|ft|foot|yards?|yd|acres?|hectares?|ha|kg|kilograms?|tons?"
    r"|tonnes?|lbs?|pounds?|people|persons?|inhabitants|residents|men|women|soldiers|troops|seats?|students|pupils"
    r"|members|employees|workers|copies|units|cars|vehicles|species|votes|points|runs|goals|games|matches|appearances"
    r"|hours|minutes|seconds|days|weeks|years|square|cubic|sq|dollars|euros|percent|per cent|cc|hp|horsepower|watts?|kW"
    r"|MW|MHz|kHz|GHz|rpm|mAh|nits|pixels|types|songs|episodes|performances|screens|theat\w+|homes|houses|families"
    r"|households|prisoners|deaths|casualties|others|different|or more|or so|strong|barrels|stores|restaurants"
    r"|times|words|pages|books|volumes|items|objects|million|billion|thousand|hundred|rupees|crore|lakh|cases|jobs|ships"
    r"|aircraft|planes|horses|steps|stars|AM|FM)\b",
    re.IGNORECASE,
)
NUMBER_BEFORE = re.compile(
    r"(?:\b(?:Nos?|nos?|[Nn]umber|Flight|Route|Highway|Interstate|Class|Model|Boeing|Airbus|[Rr]oom|km|approximately"
    r"|nearly|almost|least|than|some|only|population of|total of|NGC|IC|HD|ISO|RFC|size|up to)\.?|[×x=<>~])\s*$"
)


THINGS = re.compile(r"\s(?!series|species|was|has|his|is|its|this|as|us|\w*(?:ss|us|is|ous)\b)[a-z]{3,}s\b")
"""What a number may count; after a year it stands too, as in `the 1996 elections`."""
YEAR_BEFORE = re.compile(
    r"\b(?:the|in|since|during|until|till|[A-Z][a-z]+|an?|this|that|and|or|late|early|mid|his|her|its|their)[\s,(-]*$"
)


def years(text: str) -> Iterator[re.Match[str]]:
    """Every number of four digits that is a year."""
    for match in YEAR.finditer(text):
        if match["s"] or is_year(text, match):
            yield match


def range_end(match: re.Match[str]) -> str:
    """The year in which a range ends: 1995 for `1994–95`; empty where the two digits are no year."""
    year = int(match["year"])
    short = int(match["end"][1:]) if match["end"] else year % 100
    end = year - year % 100 + short + (100 if short <= year % 100 else 0)
    return str(end) if end - year <= 60 else ""


def is_year(text: str, match: re.Match[str]) -> bool:
    after = text[match.end() : match.end() + 16]
    before = text[max(0, match.start() - 16) : match.start()]
    if COUNTED.match(after) or NUMBER_BEFORE.search(before) or CODE_BEFORE.search(before):
        return False
    return not THINGS.match(text, match.end()) or bool(YEAR_BEFORE.search(before)) or not before.strip()
