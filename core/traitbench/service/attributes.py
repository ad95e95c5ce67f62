"""`/v1/namespaces/{namespace}/attributes`: list, get, put, delete."""

from traitbench.contract import operations
from traitbench.contract.attributes import Attribute, AttributePut
from traitbench.contract.page import AttributePage
from traitbench.operations import attributes
from traitbench.service import parameters
from traitbench.service.caller import Call
from traitbench.service.parameters import AttributeName, OwnNamespace
from traitbench.service.routing import Router

router = Router(tags=["attributes"])


@router.serve(operations.ATTRIBUTES_LIST)
def list_attributes(
    call: Call, namespace: OwnNamespace, limit: parameters.Limit = 100, cursor: parameters.Cursor = None
) -> AttributePage:
    """List the aliases of a namespace: which traits attributes mean, sorted by name."""
    return attributes.list_attributes(call.context, call.caller, namespace, limit=limit, cursor=cursor)


@router.serve(operations.ATTRIBUTES_GET)
def get(call: Call, namespace: OwnNamespace, name: AttributeName) -> Attribute:
    """Get the alias of an attribute."""
    return attributes.get(call.context, call.caller, namespace, name)


@router.serve(operations.ATTRIBUTES_PUT)
def put(call: Call, namespace: OwnNamespace, name: AttributeName, body: AttributePut) -> Attribute:
    """Say which trait an attribute means to the keys of a namespace. An alias that exists is replaced."""
    return attributes.put(call.context, call.caller, namespace, name, body)


@router.serve(operations.ATTRIBUTES_DELETE)
def delete(call: Call, namespace: OwnNamespace, name: AttributeName) -> Attribute:
    """Remove the alias of an attribute. The response is the alias as it was: put it back to undo this."""
    return attributes.delete(call.context, call.caller, namespace, name)
