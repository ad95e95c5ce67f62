"""Routes from the table of operations: an endpoint names its row, and gets path, method, checks and types from it."""

from collections.abc import Callable, Collection, Mapping
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeVar, get_args

from fastapi import APIRouter, Depends
from starlette.responses import Response

from traitbench.contract.operation import Operation
from traitbench.service.body import Body
from traitbench.service.caller import CallerCheck
from traitbench.service.idempotency import repeatable
from traitbench.service.parameters import only_known

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

_CALL, _BODY = "call", "body"
UNKEYED = [Depends(only_known)]
"""What is left of the checks of a request where no key is needed."""


class Router(APIRouter):
    """Routes whose endpoints take what the table says: `call` is the admitted request, and `body` its body."""

    def serve(
        self,
        operation: Operation[Any],
        *,
        caller: Callable[[Operation[Any]], CallerCheck] = CallerCheck,
        body: Callable[[Operation[Any]], Body] = Body,
        **options: Any,
    ) -> Callable[[Endpoint], Endpoint]:
        """Register an endpoint for an operation.

        Raise `TypeError` if it has other types than the row, or if it takes no `call` where the row asks for a key.
        `caller` and `body` take the place of the usual checks; `options` are those of FastAPI.
        """
        checks: dict[str, CallerCheck | Body] = {}
        if operation.rule.scope != "none":
            checks[_CALL] = caller(operation)
        if operation.body is not None:
            checks[_BODY] = body(operation)

        def register(endpoint: Endpoint) -> Endpoint:
            described = signature(endpoint)
            _check(operation, described, checks)
            parameters = [_checked(each, checks) for each in described.parameters.values()]
            served = repeatable(operation, endpoint)
            served.__signature__ = described.replace(parameters=parameters)  # type: ignore[attr-defined]
            self.add_api_route(
                operation.full_path,
                served,
                name=operation.name,
                methods=[operation.method],
                status_code=operation.statuses[0],
                responses={status: {"model": operation.answer} for status in operation.statuses[1:]},
                response_model=operation.answer,
                include_in_schema=operation.in_openapi,
                dependencies=UNKEYED if operation.rule.scope == "none" and not operation.open_query else None,
                **options,
            )
            return endpoint

        return register


def _check(operation: Operation[Any], described: Signature, checks: Collection[str]) -> None:
    # Without its parameter, a check would not run, and the route would be open to everybody.
    if missing := set(checks) - set(described.parameters):
        raise TypeError(f"the endpoint of {operation.name} has no parameter {', '.join(sorted(missing))}")
    if not _answers(described.return_annotation) <= {operation.answer}:
        raise TypeError(f"{operation.name} answers with {operation.answer}, not {described.return_annotation}")
    if operation.body is not None and operation.body not in _kinds(described.parameters[_BODY].annotation):
        raise TypeError(f"the body of {operation.name} is a {operation.body.__name__}")


def _checked(parameter: Parameter, checks: Mapping[str, CallerCheck | Body]) -> Parameter:
    check = checks.get(parameter.name)
    return parameter if check is None else parameter.replace(annotation=Annotated[parameter.annotation, Depends(check)])


def _answers(annotation: Any) -> set[Any]:
    """Return the types that an endpoint answers with, without those that FastAPI sends as they are."""
    return {kind for kind in _kinds(annotation) if not (isinstance(kind, type) and issubclass(kind, Response))}


def _kinds(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) or (annotation,)
