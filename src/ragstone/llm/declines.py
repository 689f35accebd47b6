"""Whether a reply declines to answer: by a closed list of patterns for each language, over the whole reply.

Every clause must decline or be a remark that goes with declining, and one must decline. So "The documents do not say,
but it was Rome" is an answer, and so is whatever is not in the list.
"""

import re
from collections.abc import Sequence

WORDS = {"en": "UNKNOWN", "zh": "不知道"}
"""What a reader is told to say when it declines."""

MOST_CLAUSES = 12

# ── English ──────────────────────────────────────────────────────────────────────────────────────────────────────────

TEXTS = r"(?:documents?|passages?|contexts?|texts?|excerpts?|sources?|articles?|information|materials?|data)"
THE_TEXTS = (
    rf"(?:(?:(?:any|none|neither|both|all) of )?(?:the|these|this|those|my|your|any|given|provided|available)"
    rf" (?:[\w-]+ ){{0,3}}?{TEXTS}|documents? \d+(?:(?:, | and | or )(?:document )?\d+)*)"
    r"(?: (?:\d+|above|below|here|given|provided|you (?:have )?(?:gave|given|provided)))*"
)
NOT = r"(?:do|does|did|is|are|was|were|has|have|can|could|will)(?:n't| not)|can't|won't|cannot|never|fails? to"
TELLS = (
    r"(?:mention|say|state|specify|provide|contain|include|give|tell|indicate|reveal|name|identify|discuss|answer|have"
    r"|offer|address|cover|describe|explain|explicitly|directly|clearly|actually|support|allow|enough|sufficient)"
)
KNOWS = (
    r"(?:know|answer|determine|find|identify|provide|give|figure out|be (?:sure|certain)|locate|confirm"
    r"|(?:tell|say)(?= (?:you )?(?:from|who|what|where|when|which|whether|if|how|for|based)\b|$))"
)
TOLD = (
    r"(?:mentioned|specified|stated|given|provided|known|available|found|included|determined|answered|clear|possible"
    r"|discussed|described|indicated|named|identified|disclosed|recorded|explicitly \w+|directly \w+|in the \w+)"
)
LITTLE = r"(?:no|not|enough|any|insufficient)"
SAID = r"(?:mentioned|specified|stated|provided|disclosed|determined)"
NEWS = rf"(?:{TEXTS}|answer|mention|details?|evidence|indication|way to {KNOWS})"
TOLD_OF = rf"(?:(?:is|are|was|were) {TOLD}|about|on|of|for|to|regarding|concerning|in|from|that|given|provided|found)"
NO_GUESS = r"(?!.*\b(?:maybe|perhaps|probably|likely|possibly|guess|i think|i believe|answer is)\b)"
TAIL = rf"(?:\b{NO_GUESS}[^,:]*(?:, ?(?:as|because|since|only|just|and|or|nor|which|who|where|when)\b[^:]*)?)?"

ENGLISH = (
    r"(?:the (?:\w+ )?answer (?:is|remains|to (?:this|the|that) question is) )?(?:simply )?(?:un|not )known"
    rf"(?: (?:to me|from|in|by|based on|given|according to)\b{TAIL}|, (?:as|because|since)\b{NO_GUESS}[^:]*)?",
    rf"(?:it|this|that|the answer|the question)(?:'s| is| remains) (?:unclear|uncertain|unanswerable|unknown){TAIL}",
    r"unclear|uncertain|unanswerable",
    r"n/?a|no answer|no information|no data|unspecified|undetermined|no idea|none given|idk|dunno",
    rf"(?:honestly )?(?:i|we) (?:really )?(?:{NOT}|(?:am|was) (?:not able|unable) to) (?:\w+ ){{0,2}}?{KNOWS}{TAIL}",
    rf"i(?:'m| am) (?:not|un)(?: entirely| quite| really)? ?(?:sure|certain|aware|able to {KNOWS}){TAIL}",
    rf"i (?:{NOT}) have (?:\w+ ){{0,3}}?(?:information|knowledge|data|access|details|context|answer){TAIL}",
    rf"i (?:have no (?:idea|information|knowledge)|lack the information){TAIL}",
    rf"{THE_TEXTS} (?:\w+ ){{0,2}}?(?:{NOT}) (?:\w+ ){{0,2}}?{TELLS}{TAIL}",
    rf"(?:they|it) (?:\w+ )?(?:{NOT}) (?:\w+ly )?(?:mention|say|state|specify|tell|indicate|reveal){TAIL}",
    rf"(?:(?:none|neither) of {THE_TEXTS}|neither document|nothing in {THE_TEXTS}) \w+{TAIL}",
    rf"(?:cannot|can't) (?:be {TOLD}|{KNOWS}){TAIL}|i (?:would|'d) need more \w+{TAIL}|{TEXTS} not {TOLD}{TAIL}",
    rf"no [\w' -]{{1,40}} (?:is|are|was|were) {TOLD} (?:in|by) {THE_TEXTS}",
    rf"(?:there(?:'s| is| are| was)(?:n't| not)?|i (?:see|find|found)"
    rf"|{THE_TEXTS} (?:has|have|contains?|provides?|gives?|offers?))"
    rf" {LITTLE} (?:\w+ ){{0,2}}?{NEWS}{TAIL}",
    rf"(?:no|not enough|insufficient) (?:\w+ )?{NEWS}(?: {TOLD_OF}{TAIL})?",
    rf"(?:not|isn't|is not|was not|wasn't) {TOLD}{TAIL}",
    rf"(?:it|this|that|(?:this|that|the) (?:answer|question|information)) (?:{NOT})(?: be)?(?: \w+ly)? {TOLD}{TAIL}",
    rf"[\w' -]{{1,80}}? (?:{NOT})(?: be)? (?:\w+ly )?(?:{SAID}{TAIL}|{TOLD} (?:in|by|within|from) {THE_TEXTS})",
    r"(?:the|this|that|her|his|its|their) [\w' -]{1,80}? (?:is|are|remains?) (?:unknown|not known|unclear)",
    rf"(?:it is|it's) (?:impossible|not possible) to {KNOWS}{TAIL}",
    r"i(?:'m| am) (?:sorry|unable to (?:help|assist|answer)[^,:]*)",
    r"i (?:can't|cannot|can not|won't|will not|must) (?:help|assist|comply|decline|do that|fulfill)[^,:]*",
    r"(?:could|can|would) you (?:please )?(?:clarify|specify|provide|tell me|be more|rephrase|give)\b.*",
    r"(?:what|which|who) [\w' -]{1,60} (?:do|are) you (?:mean|referring to|asking about|talking about)\b.*",
    r"(?:please )?(?:clarify|specify|provide (?:more|the|additional|further))\b[^:]*",
)
ENGLISH_REMARKS = (
    rf"(?:{THE_TEXTS}|they|it) (?:only|just|merely|focus|discuss|mention|describe|talk|cover|refer|deal|are about)"
    r"(?:s|es)?\b(?! that\b)(?! (?:it|he|she|they) )[^:]*",
    r"not\b[^:]*",
    r"(?:i'm |i am |my )?(?:sorry|apologies|apologi[sz]e|unfortunately)[^,:]*",
    r"(?:if|with) (?:you|more|additional|further)\b[^:]*",
    r"(?:i (?:would|will|'d)|more|additional|further) [^:]*(?:need|require|information|details|happy to)[^:]*",
    r"please (?:let me know|consult|check|refer)[^:]*",
)

# ── German and Chinese ───────────────────────────────────────────────────────────────────────────────────────────────

GERMAN = (
    r"(?:die antwort ist )?(?:nicht bekannt|unbekannt|unklar|keine angabe|keine antwort(?: möglich)?|keine ahnung)",
    r"(?:das )?weiss ich(?: das| es)?(?: leider)? nicht|ich weiss(?: es| das)?(?: leider)? nicht(?:, w\w+ [^:]*)?",
    r"(?:ich kann|kann ich) (?:die|diese|das|es)\b[^,:]* nicht (?:beantworten|sagen|bestimmen|beurteilen)[^,:]*",
    r"(?:(?:in|aus) )?(?:den|diesen|die|das) (?:\w+ )?(?:dokument|text|quelle|unterlage|information)(?:e|en|n|s)?"
    r" [^:]*(?:nicht|keine?n?|nichts)\b[^:]*",
    r"(?:das|dies|es|die antwort)\b[^,:]* nicht (?:hervor|erwähnt|genannt|angegeben|bekannt|beantworte[nt]|enthalten)",
    r"(?:die|diese) frage kann [^,:]*nicht beantwortet werden|keine information(?:en)?\b[^,:]*",
    r"da(?:zu|rüber) (?:gibt es|finde ich|liegen|steht)[^,:]* (?:kein\w*|nichts)[^,:]*|das steht nicht in [^,:]*",
    r"[\w -]{1,60} (?:wird|werden|ist|sind) (?:\w+ )?nicht (?:genannt|erwähnt|angegeben|bekannt)(?:, w\w+ [^:]*)?",
)
GERMAN_REMARKS = (r"(?:es )?tut mir leid|leider", r"es wird nur[^:]*")

CHINESE = (
    r"(?:我|答案)?(?:是)?(?:并)?(?:不知道|不清楚|不确定|未知|不详|不明)[^，。：]{0,20}",
    r"(?:我|目前|因此|所以|该问题|这个问题|根据[^，。]{0,20})?(?:无法|不能|难以)(?:(?:从|根据)[^，。：]{0,20}?中?)?"
    r"(?:准确)?(?:确定|回答|得知|判断|得出|知道|找到|确认|提供|获知|获得|作答)[^，。：]{0,40}",
    r"[^，。：]{0,20}(?:文档|文件|资料|材料|上下文|信息|文本|文章|段落|文中|题目)[^，。：]{0,20}(?:没有|并没有|未|并未|不|没)"
    r"[^，。：]{0,3}(?:提到|提及|说明|提供|给出|包含|涉及|显示|记载|指出|说|足|相关|这方面|任何|明确|回答|介绍|写)[^，。：]{0,40}",
    r"(?:没有|暂无|未|缺乏|缺少)(?:提到|提及|找到|足够|相关|说明|提供)[^，。：]{0,30}",
    r"(?:信息|资料)不足[^，。：]{0,20}",
    r"请问?您?(?:能否|可以|提供|说明|指的是|澄清)[^。：]{0,40}",
    r"(?:您|你)(?:指|说)的是[^。：]{0,40}",
)
CHINESE_REMARKS = (
    r"(?:很|非常)?抱歉|对不起",
    r"(?:这些|所给|给出的|提供的)?(?:文档|资料|材料)(?:中)?(?:只|仅)[^。：]{0,40}",
)


def anyone_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


DECLINES = anyone_of((*ENGLISH, *GERMAN, *CHINESE))
REMARKS = anyone_of((*ENGLISH_REMARKS, *GERMAN_REMARKS, *CHINESE_REMARKS))

CLAUSES = re.compile(
    r"[.!?;](?=\s|$)|[。！？；\n]|\s[—–-]\s|\s\(|（"
    r"|,?\s(?=(?:but|however|although|though|yet|therefore|thus|hence|aber|daher|deshalb)\b)|,\s(?=(?:so|i|the|they)\b)"
    r"|，(?=(?:但|因此|所以|故|我|无法|不能|这些))"
)
BY_THE_TEXTS = (
    rf"(?:(?:based|going) (?:only |solely )?on|according to|given|from|in) (?:{THE_TEXTS}|what is given)"
    r"|(?:laut|nach) (?:den |diesen )?(?:dokument|text|quelle)\w*|根据[^，。无不没未]{0,30}"
)
OPENING = re.compile(
    r"(?:(?:but|however|although|though|yet|therefore|thus|hence|so|unfortunately|sorry|aber|daher|deshalb|leider"
    r"|i(?:'m| am) afraid(?: that)?|as an? (?:ai|language)[^,:]{0,40}|explanation:|note:"
    r"|但是?|因此|所以|故|很?抱歉|对不起"
    rf"|(?:{BY_THE_TEXTS})(?=[,:，]|$))[,:，]?\s*)+",
)
EDGES = " \t\r\n\"'“”„‘’*_`()[]（）「」,，"


def declines(reply: str) -> bool:
    """Whether the whole reply declines."""
    clauses = [text for part in CLAUSES.split(plain(reply)) if (text := part.strip(EDGES))]
    if len(clauses) > MOST_CLAUSES:
        return False
    clauses = [clause for clause in clauses if not OPENING.fullmatch(clause)]
    declined = [bool(matches(DECLINES, clause)) for clause in clauses]
    remarks = [found or matches(REMARKS, clause) for found, clause in zip(declined, clauses, strict=True)]
    return any(declined) and all(remarks)


def matches(patterns: re.Pattern[str], clause: str) -> bool:
    """Whether a pattern fits the clause, with or without the words that lead into it."""
    bare = OPENING.sub("", clause, count=1) if OPENING.match(clause) else clause
    return bool(patterns.fullmatch(clause) or patterns.fullmatch(bare))


def plain(text: str) -> str:
    return text.casefold().replace("’", "'").replace("can not", "cannot").strip()
