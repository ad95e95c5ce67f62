"""Types of fields, and the base classes of all wire types.

`Received` types reject unknown fields, but for `Lenient` ones. `Returned` types ignore them, so that a client works
with a newer service, and have no defaults, so that a service cannot forget a field.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from traitbench.as_read import is_blank

_PLAIN = {
    "model_type": "Input should be an object",
    "is_instance_of": "Input should be a valid string",
    "string_unicode": "A lone surrogate is not a character",
    "dict_type": "Input should be an object",
    "list_type": "Input should be a list",
    "union_tag_invalid": "Input should have one of the types that are described",
    "union_tag_not_found": "Input should have a type",
}
_COUNTED: Mapping[Any, tuple[str, str]] = {
    "Dictionary": ("Input", "item"),
    "List": ("Input", "item"),
    "Value": ("String", "character"),  # that another validator checked before its length
}
"""What pydantic calls an object, a list and a string that are too long or too short, and what it counts."""


class Wire(BaseModel):
    """Base class of all requests and answers."""

    def _repr_html_(self) -> str | None:
        """Plain text in a notebook until `display` is imported, which `traitbench` and the client do."""
        return None

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the answer as a data frame: `pandas`, `polars` or `pyarrow`."""
        # `display` knows all these types and takes the place of this method when it is imported.
        raise ImportError("Data frames of answers need `import traitbench.display.frames`.")


AnyWire = TypeVar("AnyWire", bound=Wire)


def with_known(answer: AnyWire, **known: Any) -> AnyWire:
    """Return the answer with what its display may say beside the wire: `poles` by trait key, `texts` by position.

    The answer compares, pickles and serializes as before.
    """
    # pydantic ignores what is no field, as it does for cached properties.
    vars(answer)["_known"] = {**known_of(answer), **known}
    return answer


def known_of(answer: Wire) -> Mapping[str, Any]:
    """Return what `with_known` added."""
    known: Mapping[str, Any] = vars(answer).get("_known", {})
    return known


class Received(Wire):
    """A request body."""

    # Its validator is built at first use: all of them together take a third of a second, in every command and worker.
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True, defer_build=True)


class Lenient(Received):
    """A request body on the wire of other programs: unknown fields are ignored, as their servers do."""

    model_config = ConfigDict(extra="ignore")


class Returned(Wire):
    """An answer."""

    # JSON has no infinite numbers.
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, defer_build=True)


def _integral(value: Any) -> Any:
    """Turn 1.0, which is an integer in JSON, into 1. Strict mode rejects everything else, such as `true`."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _without_nul(value: Any) -> Any:
    if isinstance(value, str) and "\x00" in value:
        raise ValueError("the character U+0000 is not allowed")
    return value


def _not_blank(value: str) -> str:
    if is_blank(value):
        raise ValueError("Input should not be blank")
    return value


def plainly(problem: Mapping[str, Any]) -> str:
    """Return pydantic's message of an error in plain words, without the value and without a full stop."""
    context = problem.get("ctx", {})
    if context.get("pattern") == _NO_SPACE:
        return "Input should not be blank"
    if counted := _COUNTED.get(context.get("field_type")):
        side, bound = ("most", "max_length") if problem["type"] == "too_long" else ("least", "min_length")
        subject, unit = counted
        more = f", not {context['actual_length']}" if subject == "String" else ""
        return f"{subject} should have at {side} {context[bound]} {unit}{'' if context[bound] == 1 else 's'}{more}"
    return _PLAIN.get(problem["type"]) or str(problem["msg"]).removeprefix("Value error, ")


def schema(**keywords: Any) -> Any:
    """Add keywords to the JSON schema. The operation checks them itself, because it raises an error of its own."""
    return Field(json_schema_extra=keywords)


# In an annotation, bounds and patterns come before these two. After them they would be missing from the schema.
Integral = BeforeValidator(_integral)
WithoutNul = BeforeValidator(_without_nul)

# \S written out, because regular-expression engines differ in which characters are spaces: those of `str.strip`.
_NO_SPACE = r"[^\t-\r\u001c-\u001f \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"

Text = Annotated[str, WithoutNul]
NotBlank = Annotated[str, StringConstraints(min_length=1, pattern=_NO_SPACE), WithoutNul]
Readable = Annotated[NotBlank, AfterValidator(_not_blank)]
"""A text of which a person sees something."""
Label = Annotated[NotBlank, Field(max_length=200)]
Description = Annotated[Text, Field(max_length=2_000)]
LongText = Annotated[Text, Field(max_length=100_000)]
Count = Annotated[int, schema(minimum=0)]
"""A number that the service counted. In answers, bounds are only declared: the service does not check its own."""
Quality = Annotated[float, Field(ge=0.0, le=1.0)]
Time = AwareDatetime


class Unreadable(Returned):
    """A row that could not be read, and the reason.

    `item` is the handle of a model, `vN`, the id of a sample or the key of a trait; `row N` if that is unreadable too.
    """

    item: str
    reason: str
