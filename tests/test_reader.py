"""The reader: what it asks in which language, and how replies of all kinds become short answers."""

import math
import time
from collections.abc import Mapping
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import ConfigError, ModelError
from ragstone.kit import Kit, Refusal, System
from ragstone.llm.answers import asks_in_chinese, asks_yes_or_no, short_answer
from ragstone.llm.declines import WORDS, declines
from ragstone.llm.model import LanguageModel
from ragstone.llm.reader import MAX_TOKENS, ModelReader
from ragstone.llm.scripted import Scripted
from ragstone.plugins import create
from ragstone.types import Answer, Call, Document, Query, Reply

OPEN = Query(id="q", text="In which city was she born?")


def text_of(reply: str, query: Query = OPEN) -> str:
    return short_answer(reply, query).text


# ── open questions ───────────────────────────────────────────────────────────────────────────────────────────────────

REPLIES = {
    "Paris": "Paris",
    "Paris.": "Paris",
    "  Paris \n": "Paris",
    '"Paris"': "Paris",
    "“Paris.”": "Paris",
    "**Paris**": "Paris",
    "**Paris**, France": "Paris, France",
    "*Paris*": "Paris",
    "`Paris`": "Paris",
    "```\nParis\n```": "Paris",
    "```text\nParis\n```": "Paris",
    "Answer: Paris": "Paris",
    "**Answer:** Paris.": "Paris",
    "### Answer:\nParis": "Paris",
    "Final answer: **Paris**": "Paris",
    "She was born in France. Answer: Paris": "Paris",
    "Reasoning: born in 1901.\nAnswer: Lyon\nNo, wait.\nAnswer: Paris": "Paris",
    "Answer: Paris\n\nExplanation: the second document says so.": "Paris",
    "Paris\n\nAnswer:": "Paris",
    "The answer is Paris.": "Paris",
    "The answer is: Paris": "Paris",
    'the final answer is "Paris".': "Paris",
    "The correct answer is **Paris**.": "Paris",
    "The answer to the question is Paris.": "Paris",
    "So, the answer is Paris.": "Paris",
    "Therefore, the answer is $\\boxed{Paris}$.": "Paris",
    "Ann grew up in Lyon.\nShe was born elsewhere. So the answer is Paris.": "Paris",
    "Paris\n\nThe answer is found in document 2.": "Paris",
    "她在里昂长大。所以答案是巴黎。": "巴黎",
    "Sure! Here is the answer:\n\nParis": "Paris",
    "Sure, Paris.": "Paris",
    "Based on the documents, Paris.": "Paris",
    "According to document 1, Paris": "Paris",
    "According to the provided documents, the answer is Paris.": "Paris",
    "Paris\n\nQuestion: Where did she die?\nAnswer: Rome": "Paris",
    "Question: In which city was she born?\nAnswer: Paris": "Paris",
    "She was born in Paris.": "She was born in Paris",
    "Paris is the city where she was born.\nShe left it in 1920.": "Paris is the city where she was born",
    "- Paris\n- Lyon": "Paris, Lyon",
    "1. Paris\n2. Lyon\n3. Nice": "Paris, Lyon, Nice",
    "- Paris": "- Paris",
    "答案：巴黎": "巴黎",
    "答案：巴黎。": "巴黎",
    "根据文档，答案是巴黎。": "巴黎",
    "答案是“巴黎”。": "巴黎",
    "她出生于法国。\n最终答案：巴黎": "巴黎",
    "《红楼梦》": "《红楼梦》",
    "Antwort: Paris": "Paris",
    "Die Antwort lautet Paris.": "Paris",
    "Die richtige Antwort ist „Paris“.": "Paris",
    "U.S.": "U.S.",
    "the U.S.": "the U.S.",
    "Washington, D.C.": "Washington, D.C.",
    "Apple Inc.": "Apple Inc.",
    "Martin Luther King Jr.": "Martin Luther King Jr.",
    "The answer is Apple Inc.": "Apple Inc.",
    "No.": "No",
    "Vitamin C.": "Vitamin C",
    "3.5": "3.5",
    "$12.": "$12",
    "+": "+",
    "...": "...",
    "Wait...": "Wait...",
    '"Paris" and "Rome"': '"Paris" and "Rome"',
    "'Tis": "'Tis",
    "Question and Answer: A History": "Question and Answer: A History",
    "2**3**4": "2**3**4",
    "Yes, because she was born there.": "Yes, because she was born there",
    "Ann said: I was born in Paris": "Ann said: I was born in Paris",
    "Answers vary": "Answers vary",
    "***": "***",
}


@pytest.mark.parametrize(("reply", "short"), REPLIES.items())
def test_the_short_answer_is_what_is_left_without_its_dressing(reply: str, short: str) -> None:
    assert short_answer(reply, OPEN) == (short, False)


@given(st.text(), st.lists(st.text(min_size=1), max_size=4), st.text())
def test_extraction_never_fails_and_is_never_empty_where_the_reply_is_not(
    reply: str, choices: list[str], question: str
) -> None:
    text, _ = short_answer(reply, Query(id="q", text=question, choices=tuple(choices)))
    assert bool(text.strip()) == bool(reply.strip())


PIECES = [
    "Answer:",
    "答案：",
    "\n",
    "**",
    '"',
    "The answer is ",
    "UNKNOWN",
    "Question:",
    "B)",
    "yes",
    "- ",
    ".",
    " ",
    "`",
    "\\boxed{",
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join))
def test_extraction_is_never_empty_for_heaps_of_dressing(reply: str) -> None:
    for choices in ((), ("sand", "wood", "yes")):
        text, _ = short_answer(reply, Query(id="q", text="Is it?", choices=choices))
        assert bool(text.strip()) == bool(reply.strip())


LOOPS = [
    "\n",
    "the answer is ",
    "the documents ",
    "no ",
    "**a",
    "Answer:",
    "i do not know ",
    "根据",
    "- a\n",
    "the a, ",
    ". ",
]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_reply_that_repeats_itself_without_end_is_soon_read(loop: str) -> None:
    start = time.process_time()
    short_answer(f"{loop * (20_000 // len(loop))}x", OPEN)
    assert time.process_time() - start < 2


# ── choices ──────────────────────────────────────────────────────────────────────────────────────────────────────────

STUFF = Query(id="q", text="What is it made of?", choices=("wood", "sand", "wet sand", "Stone."))

CHOSEN = {
    "B": "sand",
    "b": "sand",
    "(B)": "sand",
    "[B]": "sand",
    "B.": "sand",
    "B) sand": "sand",
    "B) Sand.": "sand",
    "B: sand": "sand",
    "b) sand": "sand",
    "**B**": "sand",
    "**B) sand**": "sand",
    "Option B": "sand",
    "option b.": "sand",
    "The answer is B.": "sand",
    "The correct answer is (B) sand.": "sand",
    "Answer: B": "sand",
    "The correct option is B": "sand",
    "B, because it is found on beaches.": "sand",
    "B is correct": "sand",
    "B - sand": "sand",
    "sand": "sand",
    "Sand.": "sand",
    "SAND": "sand",
    "wet sand": "wet sand",
    "C": "wet sand",
    "D": "Stone.",
    "stone": "Stone.",
    "D) Stone": "Stone.",
    "It is made of sand.": "sand",
    "It is made of wet sand.": "wet sand",
    "Let us see.\n\nIt is a castle on a beach.\n\nB": "sand",
    "A) wood\n\nThe answer is B) sand": "sand",
    "Let us see.\nThe castle is sand.": "sand",
    "Sand, because wood would float.": "sand",
    "Ｂ": "sand",
    "（B）": "sand",
    "选项B": "sand",
    "选B": "sand",
    "答案：B": "sand",
    # doubtful: as it is
    "A, B": "A, B",
    "A and B": "A and B",
    "wood or sand": "wood or sand",
    "B) wood": "B) wood",
    "E": "E",
    "It is not sand.": "It is not sand",
    "A castle": "A castle",
    "glass": "glass",
    "Sandy": "Sandy",
}


@pytest.mark.parametrize(("reply", "option"), CHOSEN.items())
def test_a_reply_that_names_one_option_becomes_its_text(reply: str, option: str) -> None:
    assert short_answer(reply, STUFF) == (option, False)


def test_an_option_that_is_itself_a_letter_is_taken_by_its_words() -> None:
    blood = Query(id="q", text="Which blood group?", choices=("O", "A", "B", "AB"))
    assert text_of("B", blood) == "B"
    assert text_of("AB", blood) == "AB"


def test_options_of_chinese_characters_are_found_in_a_sentence() -> None:
    query = Query(id="q", text="它是什么做的？", choices=("木头", "沙子"))
    assert text_of("它是沙子做的。", query) == "沙子"
    assert text_of("B、沙子", query) == "沙子"


def test_an_option_to_decline_is_an_answer() -> None:
    query = Query(id="q", text="Who?", choices=("Ann", "Bob", "Cannot be determined"))
    assert short_answer("Cannot be determined.", query) == ("Cannot be determined", False)
    assert short_answer("C", query) == ("Cannot be determined", False)


def test_declining_is_no_choice_although_it_names_an_option() -> None:
    assert short_answer("I do not know whether it is sand.", STUFF).declined


def test_more_than_26_options_are_numbered() -> None:
    query = Query(id="q", text="Which?", choices=tuple(f"thing {n}x" for n in range(30)))
    assert text_of("30", query) == "thing 29x"
    assert "30) thing 29x" in asked(query)


# ── yes and no ───────────────────────────────────────────────────────────────────────────────────────────────────────

POLAR_QUESTIONS = [
    "Were Scott Derrickson and Ed Wood of the same nationality?",
    "Is Paris in France?",
    "is the moon a star",
    "Didn't he die in 1901?",
    "Are both magazines published by women?",
    "Is it so or not?",
    "According to the article, did sales rise?",
    "Ann won in 1901. Did Bob win too?",
    "Is Ann, who wrote the book, a doctor?",
]
OTHER_QUESTIONS = [
    "Where is Paris?",
    "Is Paris or Rome older?",
    "Can you name the capital of France?",
    "Do you know who wrote it?",
    "Did he win, and if so, when?",
    "Who, according to Ann, is the father?",
    "Which of them is older, Paris or Rome?",
    "In the year when he died, which war began?",
    "Do the following: name a city",
    "Will Smith's first film is what",
    "What is the answer if all say yes?",
    "",
]


@pytest.mark.parametrize("question", POLAR_QUESTIONS)
def test_a_yes_no_question_gets_one_word(question: str) -> None:
    assert asks_yes_or_no(question)
    query = Query(id="q", text=question)
    assert text_of("Yes, because the documents say so.", query) == "yes"
    assert text_of("No.", query) == "no"
    assert text_of("**No**, they were not.", query) == "no"
    assert text_of("The answer is yes.", query) == "yes"
    assert text_of("Yes it is", query) == "yes"
    assert text_of("Both were American.", query) == "Both were American"
    assert text_of("No one knows him", query) == "No one knows him"
    assert text_of("Yes and no.", query) == "Yes and no"


@pytest.mark.parametrize("question", OTHER_QUESTIONS)
def test_other_questions_keep_their_words(question: str) -> None:
    assert not asks_yes_or_no(question)
    assert not asks_in_chinese(question)
    assert text_of("Yes, because they say so", Query(id="q", text=question)) == "Yes, because they say so"


def test_chinese_yes_and_no() -> None:
    query = Query(id="q", text="巴黎是法国的首都吗？")
    assert text_of("是的，巴黎是首都。", query) == "是"
    assert text_of("不是，首都是里昂。", query) == "否"
    assert text_of("是法国的首都", query) == "是法国的首都"
    assert text_of("没有。", Query(id="q", text="他们是否来自同一个国家")) == "否"
    assert text_of("是，因为", Query(id="q", text="你知道他是谁吗？")) == "是，因为"
    assert text_of("是，因为", Query(id="q", text="是巴黎还是里昂？")) == "是，因为"


# ── declining ────────────────────────────────────────────────────────────────────────────────────────────────────────

DECLINED = [
    "UNKNOWN",
    "Unknown.",
    "**UNKNOWN**",
    "Answer: UNKNOWN",
    "The documents do not mention her birth.\n\nAnswer: UNKNOWN",
    "UNKNOWN. The documents do not mention where she was born.",
    "UNKNOWN\n\nExplanation: The documents only discuss her career.",
    "The answer is unknown.",
    "The answer is not known from the documents.",
    "I don't know.",
    "I don’t know",
    "I do not know the answer to this question.",
    "I don't know where she was born.",
    "Sorry, I don't know.",
    "I'm sorry, but I don't know.",
    "I'm not sure.",
    "I am not certain.",
    "I have no idea.",
    "I cannot answer this question based on the provided documents.",
    "I can't determine the answer from the documents, as they only discuss her career.",
    "I am unable to determine her birthplace from the given documents.",
    "The documents do not mention where she was born.",
    "The documents don't say.",
    "The provided documents do not contain information about her birthplace.",
    "The given context does not provide enough information to answer the question.",
    "None of the documents mention her birthplace.",
    "The documents mention her career, but they do not say where she was born.",
    "Based on the documents, it is not possible to determine where she was born.",
    "There is no information about her birthplace in the documents.",
    "No information is provided about her birthplace.",
    "Not mentioned.",
    "Not specified in the documents.",
    "It is not mentioned in the documents.",
    "The birthplace is not mentioned in the documents.",
    "It cannot be determined from the documents.",
    "This question cannot be answered.",
    "Insufficient information.",
    "Neither document mentions her birthplace.",
    "Nothing in the documents says where she was born.",
    "Ann's birthplace is not mentioned.",
    "Her birthplace is not given in the documents.",
    "I don't have enough information to answer that question.",
    "UNKNOWN (the documents do not say)",
    "Cannot be determined",
    "Unknown, as the documents do not mention it.",
    "As an AI language model, I don't have access to that information.",
    "Not enough information to answer.",
    "Unanswerable",
    "N/A",
    "It is unclear where she was born.",
    "Unfortunately, the documents do not say where she was born.",
    "The documents do not mention it. Please provide more information.",
    "The documents do not say where she was born, so the answer is unknown.",
    "I'm sorry, but I can't help with that.",
    "I cannot assist with that request.",
    "Could you clarify which Ann you mean?",
    "Which Ann do you mean?",
    "Please provide more context.",
    "不知道",
    "不知道。",
    "我不知道。",
    "答案：不知道",
    "我不知道她出生在哪里。",
    "无法确定",
    "无法从文档中得知她的出生地。",
    "根据提供的文档，无法确定她的出生地。",
    "文档中没有提到她的出生地。",
    "这些文档没有提供相关信息，因此无法回答。",
    "提供的资料未提及此事。",
    "抱歉，我无法回答这个问题。",
    "信息不足。",
    "未知",
    "请问您指的是哪一位？",
    "Ich weiß es nicht.",
    "Das weiß ich leider nicht.",
    "Unbekannt.",
    "Dazu steht nichts in den Dokumenten.",
    "Der Geburtsort wird nicht genannt.",
    "Die Dokumente enthalten keine Angaben dazu.",
    "In den Dokumenten wird das nicht erwähnt.",
    "Das geht aus den Dokumenten nicht hervor.",
    "Leider kann ich die Frage nicht beantworten.",
    "Ich kann die Frage leider nicht beantworten.",
]


@pytest.mark.parametrize("reply", DECLINED)
def test_a_reply_that_only_declines_is_declined_and_keeps_its_words(reply: str) -> None:
    text, declined = short_answer(reply, OPEN)
    assert declined
    assert text.strip(" .。") in reply.replace("*", "")


NOT_DECLINED = [
    "Paris",
    "The documents do not mention it, but she was born in Paris.",
    "I don't know, maybe Paris.",
    "I don't know, Paris?",
    "I'm not sure, but I think it is Paris.",
    "I am not sure. Paris.",
    "UNKNOWN, but probably Paris.",
    "UNKNOWN. My best guess is Paris.",
    "The documents do not say. However, she was born in Paris.",
    "The documents do not mention her birth; she was born in Paris.",
    "The documents do not say where she was born.\nAnswer: Paris",
    "It is not stated directly, but the answer is Paris.",
    "The Unknown Soldier",
    "Unknown Pleasures",
    "The Man Who Knew Too Little",
    "No",
    "None",
    "nobody",
    "No Country for Old Men",
    "Not Without My Daughter",
    "She did not know",
    "The documents state that she was born in Paris.",
    "The documents say Paris.",
    "It was not Rome.",
    "The bridge is not open.",
    "No man's land",
    "No mention of the artist was made, Paris",
    "There is no place like home",
    "不知道，可能是巴黎。",
    "文档中没有提到，但她出生于巴黎。",
    "莱茵河（文档未提及）",
    "不丹",
    "巴黎",
    "Ich weiß es nicht genau, aber vermutlich Paris.",
    "Die Dokumente sagen: Paris.",
    "Nicht weit von Paris",
    "In Paris. I don't know more.",
    "In the documents. Paris.",
    "There is no difference.",
    "The prize was not given in 1940.",
    "She had no brothers, the documents say.",
    "Approximately 200; the exact number is not known.",
    "I cannot tell a lie",
    "The virus was not known at that time.",
    "No evidence was needed",
    "They do not have wings.",
    "It does not have an atmosphere.",
    "It cannot fly.",
    "He is not sure",
    "Not guilty",
    "Sorry",
    "Please Please Me",
    "Could You Be Loved",
    "Which Way Is Up",
]


@pytest.mark.parametrize("reply", NOT_DECLINED)
def test_a_reply_that_gives_an_answer_is_not_declined(reply: str) -> None:
    assert not short_answer(reply, OPEN).declined


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────────


class Recording:
    """Replies the same to everything and remembers what it was asked."""

    name, keeps = "recording", False

    def __init__(self, reply: Reply) -> None:
        self.reply, self.calls = reply, list[Call]()

    def complete(self, call: Call) -> Reply:
        self.calls.append(call)
        return self.reply


def reader(language: str = "", reply: str = "Paris") -> ModelReader:
    return ModelReader(LanguageModel(Scripted({"": reply})), language)


def asked(query: Query = OPEN, passages: tuple[str, ...] = (), refusal: Refusal = "none", language: str = "") -> str:
    return reader(language).asked(query, passages, refusal)


@pytest.mark.parametrize("passages", [(), ("She was born in Paris.",)])
@pytest.mark.parametrize("choices", [(), ("Paris", "Rome")])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_declining_is_spoken_of_only_where_it_is_allowed_or_required(
    passages: tuple[str, ...], choices: tuple[str, ...], language: str
) -> None:
    query = OPEN.model_copy(update={"choices": choices})
    prompts = {refusal: asked(query, passages, refusal, language) for refusal in get_args(Refusal)}
    assert len(set(prompts.values())) == 3
    assert {refusal: WORDS[language] in text for refusal, text in prompts.items()} == {
        "none": False,
        "allowed": True,
        "required": True,
    }
    assert all(text.index(query.text) > text.rfind("</document 1>") for text in prompts.values())
    assert all(("A) Paris\nB) Rome" in text) == bool(choices) for text in prompts.values())


def test_the_word_for_declining_is_recognised_in_every_language() -> None:
    assert all(declines(word) for word in WORDS.values())


@pytest.mark.parametrize(
    ("language", "folder"),
    {
        "": "en",
        "en": "en",
        "en-GB": "en",
        "English": "en",
        "de": "en",
        "zh": "zh",
        "zh-CN": "zh",
        "zh_TW": "zh",
    }.items(),
)
def test_the_prompts_are_in_the_language_of_the_benchmark(language: str, folder: str) -> None:
    assert {name.partition("/")[0] for name in reader(language).prompts} == {folder}
    assert all(len(sha256) == 64 for sha256 in reader(language).prompts.values())


def test_chinese_goes_by_several_names() -> None:
    assert len({asked(language=name) for name in ("zh", "zh-Hans-CN", "Chinese", "chinese (simplified)", "中文")}) == 1


def test_in_other_languages_the_model_is_asked_to_answer_in_that_of_the_question() -> None:
    request = "language of the question"
    assert request in asked(language="de")
    assert request in asked(language="fr-CA", passages=("Elle est née à Paris.",))
    assert request not in asked(language="en") + asked(language="") + asked(language="zh")
    assert "en/same_language" in reader("de").prompts
    assert "en/same_language" not in reader("en").prompts


def test_every_prompt_that_is_there_is_used_and_listed() -> None:
    from ragstone.llm.reader import PROMPTS

    there = {path.relative_to(PROMPTS).with_suffix("").as_posix() for path in PROMPTS.rglob("*.md")}
    assert there == {*reader("de").prompts, *reader("zh").prompts}


def test_a_choice_stands_on_one_line() -> None:
    query = OPEN.model_copy(update={"choices": ("Paris\nB) Rome", "Nice")})
    assert "A) Paris B) Rome\nB) Nice" in asked(query)


def test_the_question_stands_in_the_prompt_as_it_is() -> None:
    query = Query(id="q", text="Is a<b?\nSay $why, in {braces}.")
    assert query.text in asked(query)
    assert query.text in asked(query, ("a text",))


def test_a_repeated_question_is_another_call_with_a_modest_limit() -> None:
    model = Recording(Reply(text="Paris"))
    for repeat in (0, 1):
        ModelReader(LanguageModel(model)).read(OPEN.model_copy(update={"repeat": repeat}), ())
    assert [call.sample for call in model.calls] == [0, 1]
    assert {call.max_tokens for call in model.calls} == {MAX_TOKENS}
    assert model.calls[0].messages == model.calls[1].messages


def test_confidence_is_the_geometric_mean_of_the_probabilities_where_they_are_told() -> None:
    def answered(logprobs: tuple[float, ...] | None) -> Answer:
        return ModelReader(LanguageModel(Recording(Reply(text="Paris", logprobs=logprobs)))).read(OPEN, ())

    assert answered((math.log(0.5), math.log(0.125))).confidence == pytest.approx(0.25)
    assert answered(None).confidence is None
    assert answered(()).confidence is None


def test_the_words_of_the_reply_are_kept_and_usage_is_left_to_the_driver() -> None:
    answer = reader(reply="The answer is **Paris**.\n").read(OPEN, ())
    assert (answer.text, answer.raw, answer.declined) == ("Paris", "The answer is **Paris**.\n", False)
    assert answer.usage.calls == answer.usage.input_tokens == 0


def test_an_empty_reply_is_an_empty_answer() -> None:
    answer = reader(reply=" \n").read(OPEN, ())
    assert (answer.text, answer.raw, answer.declined) == ("", " \n", False)


# ── the systems that read ────────────────────────────────────────────────────────────────────────────────────────────

READING = ["closed_book", "oracle", "long_context", "bm25", "dense", "hybrid"]
DOCUMENTS = (Document(id="a", title="Ann", text="She was born in Paris."),)


@pytest.mark.parametrize("name", READING)
def test_every_system_that_reads_has_refusal_as_a_part_of_its_identity(name: str) -> None:
    assert create(System, name).settings()["refusal"] == "none"
    assert repr(create(System, f"{name}(refusal=required)")) == f"{name}(refusal=required)"
    assert create(System, f"{name}(refusal=none)") == create(System, name)
    with pytest.raises(ConfigError, match="refusal"):
        create(System, f"{name}(refusal=perhaps)")


@pytest.mark.parametrize("name", ["closed_book", "oracle", "long_context", "bm25"])
@pytest.mark.parametrize("refusal", get_args(Refusal))
def test_a_system_tells_the_reader_what_to_say_of_declining(name: str, refusal: Refusal) -> None:
    model = Recording(Reply(text="UNKNOWN"))
    system = create(System, f"{name}(refusal={refusal})")
    kit = Kit(reader=ModelReader(LanguageModel(model)))
    answer = system.open(DOCUMENTS, kit)(OPEN.model_copy(update={"scope": ("a",)}))
    passages = () if name == "closed_book" else ("Ann\nShe was born in Paris.",)
    assert answer.declined
    assert [call.messages[0].content for call in model.calls] == [asked(OPEN, passages, refusal)]
    assert (answer.usage.context_tokens > 0) == bool(passages)


@pytest.mark.parametrize("name", ["closed_book", "long_context"])
def test_a_system_without_its_reader_says_how_to_set_one(name: str) -> None:
    with pytest.raises(ConfigError, match="--model SPEC"):
        create(System, name).open(DOCUMENTS, Kit())


def test_what_was_retrieved_is_kept_where_the_reader_fails() -> None:
    kit = Kit(reader=ModelReader(LanguageModel(Scripted({"no such prompt": "x"}))))
    with pytest.raises(ModelError) as caught:
        create(System, "bm25").open(DOCUMENTS, kit)(OPEN)
    assert [passage.document_id for passage in caught.value.so_far.retrieved] == ["a"]


def test_scripts_match_by_the_text_of_the_question() -> None:
    script: Mapping[str, str] = {OPEN.text: "Paris", "Where did she die?": "Rome"}
    answers = ModelReader(LanguageModel(Scripted(script)))
    assert answers.read(OPEN, ("x",)).text == "Paris"
    assert answers.read(Query(id="r", text="Where did she die?"), ()).text == "Rome"
