"""Types of query parameters, and errors for invalid ones (core/docs/contract.md, "Query parameters")."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Response
from pydantic import AfterValidator, BeforeValidator, Field
from starlette.requests import Request

from traitbench.contract.attributes import ATTRIBUTE
from traitbench.contract.fields import NotBlank, Text, plainly
from traitbench.contract.models import Effort, RunStarted, State
from traitbench.contract.page import LARGEST_CHANGE_PAGE, LARGEST_PAGE, LARGEST_POSITION_PAGE, LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import LONGEST_SEARCH, MOST_SAMPLES, Pole, Provenance, SynthesisType
from traitbench.errors import InvalidParameter, NotAcceptable
from traitbench.names import HANDLE, NAMESPACE, TAG, TAG_SCHEMA
from traitbench.service import strict_json
from traitbench.service.request_id import segment

MOST_SKIPPED = 10_000_000
_IDS = re.compile(rf"([1-9][0-9]{{0,15}}(,[1-9][0-9]{{0,15}}){{0,{MOST_SAMPLES - 1}}})?")
_WHOLE = re.compile(r"(-?[0-9]{1,18})(\.0{1,18})?")
_BOUNDS = ("ge", "le", "expected")
_FLAGS = {"true": True, "false": False}


def _whole(text: Any) -> Any:
    """Parse a whole number. `1.0` is one; `1_0` and ` 1` are not, although Python accepts them."""
    match = _WHOLE.fullmatch(text) if isinstance(text, str) else None
    if isinstance(text, str) and not match:
        raise ValueError("Input should be a whole number")
    return int(match[1]) if match else text


def _flag(text: Any) -> Any:
    """Parse `true` or `false`; other spellings of a truth value are refused."""
    if isinstance(text, str) and text not in _FLAGS:
        raise ValueError("Input should be true or false")
    return _FLAGS[text] if isinstance(text, str) else text


def _ids(text: Any) -> Any:
    """Check a list of ids; an empty one is fine, and means none."""
    if isinstance(text, str) and not _IDS.fullmatch(text):
        raise ValueError(f"Input should be at most {MOST_SAMPLES} ids, whole numbers from 1 with commas between them")
    return text


def ids_of(text: str | None) -> tuple[int, ...] | None:
    """Return the ids of a list, each once; None if there is no list."""
    return None if text is None else tuple(sorted({int(each) for each in text.split(",") if each}))


Cursor = Annotated[Text | None, Query(description="Start of the page: `next_cursor` of the previous page.")]
Limit = Annotated[int, Field(ge=1, le=LARGEST_PAGE), BeforeValidator(_whole), Query(description="Page size.")]
SampleLimit = Annotated[
    int, Field(ge=1, le=LARGEST_SAMPLE_PAGE), BeforeValidator(_whole), Query(description="Page size.")
]
PositionLimit = Annotated[
    int, Field(ge=1, le=LARGEST_POSITION_PAGE), BeforeValidator(_whole), Query(description="Page size.")
]
ChangeLimit = Annotated[
    int, Field(ge=1, le=LARGEST_CHANGE_PAGE), BeforeValidator(_whole), Query(description="Page size.")
]
OfSample = Annotated[
    int | None, Field(ge=1, le=2**53 - 1), BeforeValidator(_whole), Query(description="Only changes of this sample.")
]
Namespace = Annotated[
    Text | None, Query(description="A namespace that the key owns. Without it, the public namespaces are listed.")
]
AsHandle = Annotated[
    Text | None,
    Query(
        description="Handle for the imported model. Without it, the handle in the bundle is used.",
        json_schema_extra={"pattern": f"^{HANDLE.pattern}$"},
    ),
]
OfState = Annotated[
    State | None, Query(description="Only models in this state. Archived models are listed only with `archived`.")
]
OfKind = Annotated[Literal["scoring"] | None, Query(description="Only models of this kind.")]
ForkedFrom = Annotated[
    Text | None,
    Query(
        description="Only forks of this model, their forks, and models that were promoted to it, archived or not. "
        "Without `namespace`, in all namespaces of the key."
    ),
]
HeldOut = Annotated[
    bool | None,
    BeforeValidator(_flag),
    Query(description="`true`: only test samples; `false`: only samples to train with."),
]
OfSynthType = Annotated[SynthesisType, Query(description="`from_traits` or `diversify`.")]
WithDoors = Annotated[
    bool,
    BeforeValidator(_flag),
    Query(description="`true`: also routes that speak wires of other programs, and the fields of a bundle."),
]
OfEffort = Annotated[Effort | None, Query(description="Effort of the synthesis; without it, the default.")]
WithLanguageModel = Annotated[
    bool | None,
    BeforeValidator(_flag),
    Query(description="`false`: the plan without the language model of the service."),
]
OfTrait = Annotated[Text | None, Query(description="Only samples of this trait, by key or name.")]
OfProvenance = Annotated[Provenance | None, Query(description="Only samples of this origin.")]
Grouped = Annotated[
    bool | None,
    BeforeValidator(_flag),
    Query(description="`true`: only samples with a group. `false`: only samples without one."),
]
OfPole = Annotated[
    Pole | None, Query(description="Only samples that are labelled towards this pole; `between`: with quality 0.5.")
]
WithWords = Annotated[
    Text | None,
    Field(max_length=LONGEST_SEARCH),
    Query(description="Only samples whose text contains all of these words or parts of words, in any case."),
]
NewestFirst = Annotated[
    bool, BeforeValidator(_flag), Query(description="`true`: sorted by id, downwards. `false`: upwards.")
]
Offset = Annotated[
    int,
    Field(ge=0, le=MOST_SKIPPED),
    BeforeValidator(_whole),
    Query(description="How many samples to skip before the page, after the cursor."),
]
WithCount = Annotated[
    bool, BeforeValidator(_flag), Query(description="`true`: count all samples that pass the filters, too.")
]
AtTrait = Annotated[NotBlank, Query(description="The trait to score, by key or name.")]
TowardsSide = Annotated[NotBlank, Query(description="The pole of the trait that the output should be on.")]
FromPoints = Annotated[
    int,
    Field(ge=0, le=100),
    BeforeValidator(_whole),
    Query(alias="from", description="How many points towards that pole it needs, at least."),
]
OfIds = Annotated[
    str | None,
    BeforeValidator(_ids),
    Query(
        description=f"Only the samples with these ids, at most {MOST_SAMPLES}, with commas between them. Ids that the "
        "model does not have are left out.",
        json_schema_extra={"pattern": f"^{_IDS.pattern}$"},
    ),
]
OfSamples = Annotated[
    str | None,
    BeforeValidator(_ids),
    Query(
        description=f"Only changes of these samples, at most {MOST_SAMPLES} ids with commas between them.",
        json_schema_extra={"pattern": f"^{_IDS.pattern}$"},
    ),
]
OfProposed = Annotated[
    str | None,
    BeforeValidator(_ids),
    Query(
        description=f"Only the proposed labels with these ids, at most {MOST_SAMPLES}, with commas between them. "
        "Without it, all of them.",
        json_schema_extra={"pattern": f"^{_IDS.pattern}$"},
    ),
]

OfTexts = Annotated[
    str | None,
    BeforeValidator(_ids),
    Query(
        description=f"Only the texts with these ids, at most {MOST_SAMPLES}, with commas between them. Without it, all "
        "of them.",
        json_schema_extra={"pattern": f"^{_IDS.pattern}$"},
    ),
]
AfterText = Annotated[
    int,
    Field(ge=0, le=2**53 - 1),
    BeforeValidator(_whole),
    Query(description="Only texts with a higher id than this one."),
]
Everyone = Annotated[bool, BeforeValidator(_flag), Query(description="`true`: the decisions of all people, too.")]

Pending = Annotated[
    bool | None,
    BeforeValidator(_flag),
    Query(description="`true`: only feedback that the model has not learned yet. `false`: only the other samples."),
]


def only_known(request: Request) -> None:
    """Raise `InvalidParameter` for a parameter that the operation does not have, or that is repeated."""
    if not request.scope["query_string"]:
        return
    known = sorted(field.alias for field in request.scope["route"].dependant.query_params)
    for name, count in Counter(name for name, _ in request.query_params.multi_items()).items():
        if name not in known or count > 1:
            what = "repeated" if name in known else "unknown"
            raise InvalidParameter(
                f"The query parameter {strict_json.shown(name)} is {what}. Use: {', '.join(known) or 'none'}.",
                details={"parameter": strict_json.shown(name), "known": known},
            )


def invalid(errors: Sequence[Any]) -> InvalidParameter:
    """Turn the framework's errors into ours."""
    faults = [
        {
            "loc": [str(error["loc"][1])],
            "type": error["type"],
            "msg": plainly(error),
            **{bound: value for bound, value in error.get("ctx", {}).items() if bound in _BOUNDS},
        }
        for error in errors
    ]
    name = faults[0]["loc"][0]
    return InvalidParameter(
        f"The query parameter {name} is not valid: {faults[0]['msg']}.", details={"parameter": name, "errors": faults}
    )


def negotiate(accept: str, offers: Sequence[str]) -> str:
    """Return the best of `offers`, or the first if `accept` is empty; raise `NotAcceptable` if none is accepted."""
    if not accept.strip() or accept == "*/*":
        return offers[0]
    ranges = dict(_range(part) for part in accept.split(","))
    best = max(offers, key=lambda offer: _weight(offer, ranges))
    if _weight(best, ranges)[0] <= 0.0:
        raise NotAcceptable(
            f"The answer can be {' or '.join(offers)}; the Accept header accepts none of these.",
            details={"offers": [*offers]},
        )
    return best


def _range(part: str) -> tuple[str, float]:
    name, *parameters = (piece.strip().lower() for piece in part.split(";"))
    weights = [value.strip() for key, _, value in (piece.partition("=") for piece in parameters) if key.strip() == "q"]
    try:
        return name, min(1.0, float(weights[0])) if weights else 1.0
    except ValueError:
        return name, 0.0


def _weight(offer: str, ranges: dict[str, float]) -> tuple[float, int]:
    """Return the weight and specificity of an offer; the weight is 0.0 if no range covers it."""
    covering = (offer, f"{offer.partition('/')[0]}/*", "*/*")
    for specificity, name in zip((2, 1, 0), covering, strict=True):
        if name in ranges:
            return ranges[name], specificity
    return 0.0, 0


# Ids begin at 1, so what is no id gets the same answer as an unknown one. 18 digits fit into 64 bits.
_NO_SAMPLE = 0


def _number(text: Any) -> int:
    return int(text) if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 19 else _NO_SAMPLE


Handle = Annotated[str, Path(description="`<namespace>.<name>`.", json_schema_extra={"pattern": f"^{HANDLE.pattern}$"})]
PinnedHandle = Annotated[
    str,
    Path(
        description="`<namespace>.<name>`, optionally pinned with `@vN` or `@tag`.",
        json_schema_extra={"pattern": f"^{HANDLE.pattern}(@{TAG.pattern})?$"},
    ),
]
TraitName = Annotated[str, AfterValidator(segment), Path(description="Key or name of a trait; keys take precedence.")]
TextId = Annotated[int, BeforeValidator(_number), Path(description="Id of a text without a label.")]
SampleId = Annotated[int, BeforeValidator(_number), Path(description="Id of a sample.")]
ChangeId = Annotated[int, BeforeValidator(_number), Path(description="Id of a change of samples.")]
OwnNamespace = Annotated[str, Path(description="A namespace.", json_schema_extra={"pattern": f"^{NAMESPACE.pattern}$"})]
AttributeName = Annotated[
    str,
    AfterValidator(segment),
    Path(description="Name of an attribute.", json_schema_extra={"pattern": f"^{ATTRIBUTE.pattern}$"}),
]
VersionName = Annotated[str, Path(description="`vN`, a tag, or `active`.")]
TagName = Annotated[
    str,
    Path(
        description="1-64 letters, digits, `.`, `_` and `-`, starting with a letter or digit; not `vN` or `active`.",
        json_schema_extra={"pattern": TAG_SCHEMA},
    ),
]


RUN_ID = "X-Run-Id"


def accepted(started: RunStarted, response: Response) -> RunStarted:
    """Set the run's id as a header, and return the body unchanged."""
    response.headers[RUN_ID] = str(started.run_id)
    return started
