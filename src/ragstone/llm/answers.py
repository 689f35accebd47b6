"""From what a model replied to the short answer. It only takes away what is certainly not part of it."""

import re
from typing import NamedTuple

from ragstone.llm.choices import chosen, named
from ragstone.llm.declines import declines
from ragstone.text import fold
from ragstone.types import Query


class Short(NamedTuple):
    """The answer in a reply, and whether it is no answer but a refusal or a question back."""

    text: str
    declined: bool = False


def short_answer(reply: str, query: Query) -> Short:
    """Never empty where the reply is not. A choice is given in the words of the query, yes and no as one word."""
    said = after_marker(before_next_question(reply, query))
    text = without_dressing(said) or " ".join(reply.split())
    if option := chosen(text, query.choices) or chosen(last_line(said), query.choices):
        return Short(option)
    if declines(said):
        return Short(text, declined=True)
    if query.choices:
        return Short(named(text, query.choices) or named(said, query.choices) or text)
    return Short(yes_or_no(text, query.text) or text)


# ── where the answer stands ──────────────────────────────────────────────────────────────────────────────────────────

DECORATION = r"[ \t>#*_-]*"
ABOUT_ITSELF = r"(?!(?:based|found|given|taken|in|from|not|also|derived|supported|located|mentioned|stated)\b)"
MARKER = re.compile(
    rf"(?:^{DECORATION}|(?<=[.!?])\s*)(?:(?:so|thus|therefore|hence),?\s)?the (?:(?:final|correct|right) )?answer"
    rf"(?: to (?:the|this|your) question)? is(?::|\s){ABOUT_ITSELF}\s*"
    r"|(?:^|(?<=[。！？]))[ \t]*(?:(?:所以|因此)，?)?(?:正确|最终)?答案[是为][：:]?\s*"
    rf"|(?:^{DECORATION}|(?<=[.!?。！？])\s*|\b(?:the|my) )(?:(?:final|short|correct|最终|正确)\s?)?"
    r"(?:answer|antwort|答案?[是为]?)[ \t*_]*[:：](?:\*\*(?=\s))?[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]+)\}")
NEXT_QUESTION = re.compile(
    rf"^{DECORATION}(?:question|frage|问题?)[ \t*_]*[:：](?P<asked>.*)", re.IGNORECASE | re.MULTILINE
)


def before_next_question(reply: str, query: Query) -> str:
    """The reply up to where a small model goes on by asking itself something else."""
    for match in NEXT_QUESTION.finditer(reply):
        if reply[: match.start()].strip() and fold(query.text.strip()) not in fold(match["asked"]):
            return reply[: match.start()]
    return reply


def after_marker(reply: str) -> str:
    """What follows the last `Answer:`, or stands in the last box; the whole reply if there is neither."""
    if boxes := BOXED.findall(reply):
        return str(boxes[-1])
    parts = [part for part in MARKER.split(reply) if part.strip()]
    return parts[-1] if parts else reply


# ── what is not part of it ───────────────────────────────────────────────────────────────────────────────────────────

BULLET = re.compile(r"\s*(?:[-*•‣]|\d{1,2}[.)、])\s+")
FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*\w*\s*")
SAYS_SOMETHING = re.compile(r"[^\W_]|[+$€£¥%]")
LEAD_IN = re.compile(
    r"(?:sure|certainly|of course|okay|ok)[,!.]\s+"
    r"|(?:based on|according to|from|in) (?:the |these |this )?(?:\w+ )?(?:documents?|passages?|contexts?|texts?)"
    r"[^,:.]{0,30}[,:]\s*"
    r"|(?:so|thus|therefore|hence)?,?\s*(?:the |my )?(?:(?:final|short|correct|right|best) )?answer"
    r"(?: to (?:the|this|your) question)? (?:is|would be|was)(?::| that)?\s+"
    r"|(?:die (?:richtige )?antwort (?:ist|lautet):?)\s+"
    r"|根据[^，。：]{0,20}(?:文档|资料|材料|内容|信息)[^，。：]{0,10}[，：]"
    r"|(?:所以|因此)?，?(?:正确|最终)?(?:的)?答案(?:是|为|应为|应该是)[：:]?\s*",
    re.IGNORECASE,
)
BOLD = re.compile(r"(?<![\w*])(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
MOST_LAYERS = 6
PAIRS = ('""', "''", "“”", "‘’", "„“", "«»", "「」", "『』", "``", "**", "__")
ABBREVIATION = re.compile(
    r"(?:(?:^|[^\w])(?:[^\W\d_]\.){2,}|\b(?:inc|ltd|co|corp|bros|jr|sr|etc|st|dr|mr|mrs|ms|vs|ave|mt|al|ca|cf|approx)\.)$",
    re.IGNORECASE,
)


def without_dressing(said: str) -> str:
    """The first line that says something, without lead-in, quotes, emphasis and final full stop."""
    text = first_line(said)
    for _ in range(MOST_LAYERS):
        if (barer := bare(text)) == text:
            break
        text = barer
    return text


def first_line(said: str) -> str:
    """The first line that says something, or the items of a list; a line that only announces says nothing."""
    lines = [line.strip() for line in said.splitlines() if SAYS_SOMETHING.search(line) and not FENCE.fullmatch(line)]
    while len(lines) > 1 and lines[0].rstrip("*_ ").endswith((":", "：")):
        lines = lines[1:]
    if not lines:
        return ""
    items = [BULLET.sub("", line, count=1) for line in lines if BULLET.match(line)]
    return ", ".join(items) if len(items) == len(lines) > 1 else lines[0]


def last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if SAYS_SOMETHING.search(line)]
    return without_dressing(lines[-1]) if lines else ""


def bare(text: str) -> str:
    """The text with one layer of dressing less, if it has any and something is left."""
    text = BOLD.sub(r"\2", text).strip()
    if text.count("**") == 1:  # its other half stood around the marker
        text = text.removeprefix("**").removesuffix("**").strip() or text
    lead_in = LEAD_IN.match(text)
    for shorter in (text[lead_in.end() :] if lead_in else "", unquoted(text), unstopped(text)):
        if shorter != text and SAYS_SOMETHING.search(shorter):
            return shorter.strip()
    return text


def unquoted(text: str) -> str:
    """Without the marks around it, if they are one pair."""
    inner = text[1:-1]
    around = text[:1] + text[-1:]
    return inner if around in PAIRS and not (set(around) & set(inner)) else text


def unstopped(text: str) -> str:
    """Without the final full stop, unless it belongs to an abbreviation or to dots."""
    keeps = text.endswith("..") or ABBREVIATION.search(text)
    return text if keeps else re.sub(r"[.。]$", "", text)


# ── yes and no ───────────────────────────────────────────────────────────────────────────────────────────────────────

VERB = r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)(?:n['’]t)?"
ASKS_OPENLY = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)
POLAR_START = re.compile(rf"{VERB}\s(?!(?:you|we|i)\b)", re.IGNORECASE)
POLAR_CLAUSE = re.compile(rf",\s*{VERB}\s(?!(?:you|we|i)\b)", re.IGNORECASE)
ASKS_MORE = re.compile(
    r"\b(?:and|if so|then|else),?\s(?:who|what|which|when|where|why|how)\b|\bor\b(?! not\b)"
    r"|\b(?:who|what|where|when)\W*$",
    re.IGNORECASE,
)
IMPERATIVE = re.compile(r"(?:do|have)\b", re.IGNORECASE)
CHINESE_POLAR = re.compile(r"[吗么]\s*[?？]?\s*$|是否|是不是|有没有|能不能|会不会|可不可以")
CHINESE_OPEN = re.compile(r"什么|谁|哪|几|多少|怎么|怎样|如何|何时|何地|为何|还是")

YES_NO = re.compile(
    r"(?P<word>yes|no)(?=\s*(?:[,.;:!—–(-]|$)|\s+(?:it|they|he|she|the|both|there|that|this|because)\b)", re.IGNORECASE
)
CHINESE_YES_NO = re.compile(
    r"(?:(?P<yes>是的?|对的?|没错)|(?P<no>不是的?|不对|否|不|没有))(?=\s*[，。,.；！、(（]|\s*$)"
)


def yes_or_no(text: str, question: str) -> str:
    """The yes or no that the text begins with; empty if there is none or the question does not ask for it."""
    if asks_in_chinese(question) and (match := CHINESE_YES_NO.match(text)):
        return "是" if match["yes"] else "否"
    if asks_yes_or_no(question) and (match := YES_NO.match(text)):
        return match["word"].lower()
    return ""


def asks_in_chinese(question: str) -> bool:
    return bool(CHINESE_POLAR.search(question)) and not CHINESE_OPEN.search(question)


def asks_yes_or_no(question: str) -> bool:
    """Whether a question has the form of one; where that is doubtful, not."""
    last = re.split(r"(?<=[.!?])\s+", question.strip())[-1]
    if ASKS_MORE.search(last):
        return False
    if POLAR_START.match(last):
        return last.endswith("?") or not IMPERATIVE.match(last)
    return last.endswith("?") and bool(POLAR_CLAUSE.search(last)) and not ASKS_OPENLY.search(last)
