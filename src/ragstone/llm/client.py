"""Chat completions, from any server that answers `POST BASE_URL/chat/completions` as OpenAI does."""

import math
import re
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any, NamedTuple

import orjson

from ragstone.errors import ModelError
from ragstone.llm.connection import PassingTrouble
from ragstone.llm.options import Options
from ragstone.llm.transport import Refused, Server
from ragstone.text import count_tokens
from ragstone.types import Call, Reply

OPEN, CLOSE = "<think>", "</think>"
NAMED_IN_REFUSALS = {
    "response_format": re.compile("response.?format|schema|structured|grammar", re.IGNORECASE),
    "max_tokens": re.compile("max_tokens"),
    "temperature": re.compile("temperature", re.IGNORECASE),
    "logprobs": re.compile("logprobs", re.IGNORECASE),
}
"""How servers say which parameter they do not take."""
WITHOUT = {
    "response_format": "schemas are put into words",
    "temperature": "replies are at the server's own",
    "logprobs": "there are none",
}
"""What it means that a parameter is left out."""
LOWEST_LOGPROB = -9999.0  # also for a probability of nought
MOST_TOKENS = 2**40  # beyond that, a count is nonsense


class Manner(NamedTuple):
    """How this server wants to be asked, as far as it is known."""

    options: Options
    as_openai: bool  # the limit is called max_completion_tokens


class Chat:
    """One model of a server. It learns which parameters the server refuses, and does without them."""

    keeps = True

    def __init__(self, model: str, server: Server, options: Options) -> None:
        self.name = server.named(model) + options.identity
        self._model, self._server = model, server
        self.notes: list[str] = []  # what people should know of its replies
        self._manner = Manner(options, server.is_openai)
        self._learning = Lock()

    def complete(self, call: Call) -> Reply:
        manner = self._manner
        return self._asked(manner.options.applied(call), manner)

    def _asked(self, call: Call, manner: Manner, before: int = 0) -> Reply:
        """The reply after so many requests in other manners."""
        body = chat_body(self._model, call, manner.options, manner.as_openai)
        try:
            reply, tries = self._server.post(
                "/chat/completions", body, lambda found: reply_from(found, self.name, call=call)
            )
        except ModelError as error:
            error.tries += before
            if isinstance(error, Refused):
                return self._asked(call, adapted(manner, body, error), error.tries)
            raise
        if before:
            self._learn(manner)  # only now is it certain that this was what the server did not like
        return reply if before + tries == 1 else reply.model_copy(update={"tries": before + tries})

    def _learn(self, manner: Manner) -> None:
        """Adds to what other threads have learnt meanwhile."""
        with self._learning:
            known = self._manner
            new = [name for name in manner.options.omit if name not in known.options.omit]
            options = known.options.model_copy(update={"omit": (*known.options.omit, *new)})
            self._manner = Manner(options, known.as_openai or manner.as_openai)
            self.notes += [f"{self.name} refuses {name}: {WITHOUT[name]}" for name in new]


def adapted(manner: Manner, body: Mapping[str, Any], refused: Refused) -> Manner:
    """The manner without the parameter that a refusal names; if it names none that was sent, the refusal stands."""
    for name, said in NAMED_IN_REFUSALS.items():
        if name in body and said.search(str(refused)):
            if name == "max_tokens":
                return manner._replace(as_openai=True)
            omit = (*manner.options.omit, name)
            return manner._replace(options=manner.options.model_copy(update={"omit": omit}))
    raise refused


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────────────────────────


def chat_body(model: str, call: Call, options: Options, server_is_openai: bool) -> dict[str, Any]:
    """The JSON of a request. A schema that is not sent as such is put into words."""
    body: dict[str, Any] = {"model": model, "messages": [message.model_dump() for message in call.messages]}
    if call.temperature is not None:
        body["temperature"] = call.temperature
    if "max_tokens" not in options.omit:
        body["max_completion_tokens" if server_is_openai else "max_tokens"] = call.max_tokens
    if call.logprobs:
        body["logprobs"] = True
    if options.thinking is not None:
        body["chat_template_kwargs"] = {"enable_thinking": options.thinking}
    if call.reply_schema is not None:
        body["response_format"] = response_format(call.reply_schema)
    body |= options.parameters
    if call.reply_schema is not None and "response_format" in options.omit:
        body["messages"][-1]["content"] += in_words(call.reply_schema)
    return {name: value for name, value in body.items() if name not in options.omit}


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}


def in_words(schema: Mapping[str, Any]) -> str:
    return f"\n\nReply with JSON alone, by this JSON schema:\n{orjson.dumps(schema).decode()}"


# ── what comes back ──────────────────────────────────────────────────────────────────────────────────────────────────


def reply_from(body: Any, model_name: str, call: Call | None = None) -> Reply:
    """The reply in a chat completion; `call` is what tokens are counted from if the server does not tell."""
    choice, message, usage = parts(body)
    finish = choice.get("finish_reason")
    if finish == "content_filter":
        remedy = "leave this item out or use another model"
        raise unusable(f"{model_name}: a content filter stopped the reply; {remedy}", usage)
    thought, text = split(message)
    if text is None or (finish == "length" and not text.strip()):
        remedy = "raise max_tokens or set thinking=false"
        raise unusable(f"{model_name}: the limit of tokens cut off its thought; {remedy}", usage)
    asked = "\n".join(message.content for message in call.messages) if call else ""
    return Reply(
        text=text,
        thought=thought.strip(),
        cut=finish == "length",
        input_tokens=tokens(usage, "prompt_tokens", asked),
        output_tokens=tokens(usage, "completion_tokens", f"{thought} {text}"),
        logprobs=logprobs_of(choice, text),
    )


def parts(body: Any) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]:
    """The choice, its message and the usage; what has no message is malformed."""
    try:
        choice, usage = body["choices"][0], body.get("usage") or {}
        message = choice["message"]
        said = message.get("content") is not None or message.get("refusal") or reasoning(message)
        said = said or choice.get("finish_reason") == "length"  # a thought that took all and is not shown
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise PassingTrouble("the answer holds no message") from error
    if not (isinstance(choice, dict) and isinstance(usage, dict) and said):
        raise PassingTrouble("the answer holds no message")
    return choice, message, usage


def reasoning(message: Mapping[str, Any]) -> str:
    found = message.get("reasoning_content") or message.get("reasoning")
    return found if isinstance(found, str) else ""


def unusable(problem: str, usage: Mapping[str, Any]) -> ModelError:
    """A reply that is paid for and says nothing."""
    error = ModelError(problem)
    error.tokens = tokens(usage, "prompt_tokens", ""), tokens(usage, "completion_tokens", "")
    return error


def split(message: Mapping[str, Any]) -> tuple[str, str | None]:
    """The thought and the text, if there is one. Where the template opens the thought, only its end is in the reply."""
    content = message.get("content") or message.get("refusal") or ""
    if not isinstance(content, str):
        raise PassingTrouble("the answer's content is not a text")
    opened = content.lstrip().startswith(OPEN)
    inner, closed, text = content.partition(CLOSE)
    if opened and not closed:
        return inner.lstrip().removeprefix(OPEN), None
    if closed and (opened or OPEN not in inner):
        return reasoning(message) + inner.lstrip().removeprefix(OPEN), text.lstrip()
    return reasoning(message), content


def tokens(usage: Mapping[str, Any], name: str, text: str) -> int:
    told = usage.get(name)
    return told if isinstance(told, int) and 0 <= told < MOST_TOKENS else count_tokens(text)


def logprobs_of(choice: Mapping[str, Any], text: str) -> tuple[float, ...] | None:
    """Of the tokens of the text: those of a thought before it, and of the mark that ends the message, are left out."""
    try:
        told = [(str(item["token"]), as_logprob(item["logprob"])) for item in choice["logprobs"]["content"]]
    except (KeyError, TypeError, ValueError):
        return None
    whole = "".join(token for token, _ in told)
    start = whole.rfind(text)
    if start < 0:  # half characters are tokens too, and written in many ways
        return None if CLOSE in whole else tuple(logprob for _, logprob in told)
    return tuple(logprob for logprob, end in ends(told) if start < end <= start + len(text))


def as_logprob(told: Any) -> float:
    """Servers also write -inf, and numbers a little above nought."""
    number = float(told)
    if math.isnan(number):
        raise ValueError("not a number")
    return min(0.0, max(LOWEST_LOGPROB, number))


def ends(told: list[tuple[str, float]]) -> Iterator[tuple[float, int]]:
    """Each log-probability with the place where its token ends."""
    place = 0
    for token, logprob in told:
        place += len(token)
        yield logprob, place
