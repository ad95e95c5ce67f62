"""The kinds of value that fields are made of, and the bases of all wire types.

`Received` types refuse what they do not know; `Returned` types tolerate it and have no defaults, so that a client meets
a newer service without failing and a service cannot forget a field.
"""

from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints


class Wire(BaseModel):
    """What crosses the wire, in either direction."""

    def _repr_html_(self) -> str | None:
        """What a notebook shows: plain text until `traitbench.notebook` is imported, which the client does."""
        return None


class Received(Wire):
    """A request body."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class Returned(Wire):
    """An answer."""

    # JSON has no infinite numbers.
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


def _integral(value: Any) -> Any:
    """`1.0` is an integer to JSON, `true` is not; strictness does the rest."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _without_nul(value: Any) -> Any:
    if isinstance(value, str) and "\x00" in value:
        raise ValueError("the character U+0000 is not allowed")
    return value


def said(**keywords: Any) -> Any:
    """Keywords of a schema that an operation checks itself, because the error has a code of its own."""
    return Field(json_schema_extra=keywords)


# Bounds and patterns stand before these two: behind them they would be checked, and missing in the schema.
Integral = BeforeValidator(_integral)
WithoutNul = BeforeValidator(_without_nul)

# \S as it is checked here, written out: which characters are space is not the same in every reader of patterns.
_NO_SPACE = r"[^\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"

Text = Annotated[str, WithoutNul]
NotBlank = Annotated[str, StringConstraints(min_length=1, pattern=r"\S"), WithoutNul, said(pattern=_NO_SPACE)]
Label = Annotated[NotBlank, Field(max_length=200)]
Description = Annotated[Text, Field(max_length=2_000)]
LongText = Annotated[Text, Field(max_length=100_000)]
Quality = Annotated[float, Field(ge=0.0, le=1.0)]
Time = AwareDatetime
