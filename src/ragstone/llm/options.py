"""Model specs: `KIND:REST(option=value, …)`, for instance `openai:gpt-4o-mini(temperature=0.7, seed=1)`."""

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import orjson
from pydantic import Field, FiniteFloat, ValidationError

from ragstone.errors import ConfigError
from ragstone.files import first_problem
from ragstone.types import Call, Record

SPEC = re.compile(r"(?P<kind>[\w-]+)(?::(?P<rest>.*?))?(?:\((?P<options>[^()]*)\))?")
BEGUN = re.compile(r"\(\s*[\w-]+\s*=")
"""Options that do not end, which would else be part of a name."""
NOT_A_NAME = re.compile(r"[\s\[{].*=")
VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
NO_KEY = "none"
NEVER_SENT = ("temperature", "max_tokens", "logprobs", "response_format")
"""What `none` leaves out of every call; of anything else it says only that it is not set."""
OUR_OWN = ("model", "messages", "input", "n", "stream", "encoding_format", "omit", "parameters")
SECRETS = re.compile(r"api_?key|api_?token|auth|bearer|credential|passw|secret|header|_key$|^token$|access_?token")
"""Names under which people put keys by mistake."""
LIKE_A_KEY = re.compile(r"\W*(?:sk|pk|gsk|xai|hf|rk|key|Bearer|AIza)[-_ ]?[\w-]{12,}.*")
MOST = 2**31 - 1


class Options(Record):
    """How a model is asked, whoever asks. What is not given here is the caller's choice."""

    base_url: str = ""  # its server, if not the one of --base-url
    key: str = ""  # the environment variable that holds its key; `none`: no key is sent
    temperature: FiniteFloat | None = None
    max_tokens: int | None = Field(None, ge=1, le=MOST)
    thinking: bool | None = None  # None: as the model does by itself
    logprobs: bool = False
    threads: int | None = Field(None, ge=1, le=1024)  # for a model in this process
    context: int | None = Field(None, ge=1, le=MOST)  # tokens that a model in this process can see
    omit: tuple[str, ...] = ()  # parameters that are not sent, because the server refuses them
    parameters: Mapping[str, Any] = {}  # further ones, sent as they are

    def applied(self, call: Call) -> Call:
        """The call with what is set here."""
        told = {name: value for name in ("temperature", "max_tokens") if (value := getattr(self, name)) is not None}
        told |= {"temperature": None} if "temperature" in self.omit else {}
        told |= {"logprobs": True} if self.logprobs else {}
        return call.model_copy(update=told) if told else call

    @property
    def told(self) -> list[str]:
        """The names of all that is set here."""
        fields = self.model_fields_set - {"omit", "parameters"}
        return sorted(fields | {*self.omit, *self.parameters})

    @property
    def identity(self) -> str:
        """What changes replies, as text; empty where nothing does."""
        found = self.model_dump(
            mode="json", exclude_defaults=True, exclude={"base_url", "key", "threads", "parameters"}
        )
        omitted = dict.fromkeys(found.pop("omit", ()), "none")
        told = {name: shown(value) for name, value in {**found, **self.parameters}.items()} | omitted
        inner = ", ".join(f"{name}={told[name]}" for name in sorted(told))
        return f"({inner})" if inner else ""


class Spec(NamedTuple):
    kind: str
    rest: str
    options: Options


def read_spec(text: str) -> Spec:
    match = SPEC.fullmatch(text.strip())
    rest = match["rest"] or "" if match else ""
    unreadable = not match or BEGUN.search(rest) or NOT_A_NAME.search(rest) or rest.count("(") != rest.count(")")
    if not match or unreadable:
        raise ConfigError(f"cannot read the model {shown_spec(text)!r}; write KIND:NAME or KIND:NAME(option=value)")
    return Spec(match["kind"], rest, read_options(match["options"] or "", shown_spec(text)))


def shown_spec(text: str) -> str:
    """A spec for an error: without its options, because people put keys there by mistake."""
    name, *more = re.split(r"[(\[{\s]", text.strip(), maxsplit=1)
    return f"{name}(…)" if more else name


def read_options(text: str, spec: str) -> Options:
    """`none` leaves a parameter out; what is no option of ours is a parameter for the server."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not equals for _, equals, _ in pairs):
        raise ConfigError(f"cannot read the options of {spec!r}; write (name=value, name=value)")
    values = {name.strip(): value.strip() for name, _, value in pairs}
    if "" in values or len(values) < len(pairs):
        raise ConfigError(f"an option of {spec!r} has no name, or stands there twice; write each once, with its name")
    check_options(values, spec)
    given = {name: as_value(value) for name, value in values.items() if not is_none(value)}
    given |= {"key": NO_KEY} if is_none(values.get("key", "")) else {}
    omit = tuple(name for name in values if name in NEVER_SENT and name not in given)
    ours = {name: value for name, value in given.items() if name in Options.model_fields}
    parameters = {name: value for name, value in given.items() if name not in ours}
    try:
        return Options(**ours, omit=omit, parameters=parameters)
    except ValidationError as error:
        raise ConfigError(f"model {spec!r}: {first_problem(error)}; check its options") from error


def check_options(values: Mapping[str, str], spec: str) -> None:
    """Refuses what only Ragstone sets, and shows nothing that may be a key."""
    for name, value in values.items():
        plain = name.lower().replace("-", "_")
        if name != "key" and (plain == "key" or SECRETS.search(plain) or LIKE_A_KEY.fullmatch(value)):
            remedy = "set RAGSTONE_API_KEY, or write key=NAME for another variable"
            raise ConfigError(f"model {spec!r}: {name} is not taken here, where others may read it; {remedy}")
        if plain == "key" and not VARIABLE.fullmatch(value):
            raise ConfigError(f"model {spec!r}: key is not the name of a variable; write for instance key=MY_KEY")
        if plain in OUR_OWN or (plain == "response_format" and not is_none(value)):
            raise ConfigError(f"model {spec!r}: {name} is not yours to set; leave it out")


def refuse_options(spec: Spec, foreign: Collection[str]) -> None:
    """What means nothing to a model is refused: nobody should believe that it was heeded."""
    for name in spec.options.told:
        if name in foreign:
            raise ConfigError(f"the model {':'.join(filter(None, spec[:2]))} has no option {name}; leave it out")


def is_none(value: str) -> bool:
    return value.lower() == "none"


def as_value(text: str) -> Any:
    """A number, true, false or JSON as such, anything else as the text that it is."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def shown(value: Any) -> str:
    """As it is read: a text that would be read as something else is quoted."""
    plain = isinstance(value, str) and as_value(value) == value and not is_none(value)
    return str(value) if plain else orjson.dumps(value).decode()
