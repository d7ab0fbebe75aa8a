"""What no schema can say of a body: a request that is meant to be valid, and is not
for one of these reasons, shows nothing, and is not sent."""

import datetime

import schemathesis
from schemathesis import GenerationMode


def past(moment):
    try:
        at = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        return False
    return at <= datetime.datetime.now(datetime.timezone.utc)


def one_line(name):
    """The names of keys are of 200 bytes at most, and have nothing that cannot be seen."""
    return isinstance(name, str) and name.isprintable() and name == " ".join(name.split()) and len(name.encode("utf-8", "replace")) <= 200


def has_zero(value):
    """No text may have a zero byte, which no store keeps; a schema would say it of each."""
    if isinstance(value, dict):
        return any(has_zero(v) for pair in value.items() for v in pair)
    if isinstance(value, list):
        return any(has_zero(v) for v in value)
    return isinstance(value, str) and "\0" in value


def impossible(operation, body):
    if has_zero(body):
        return True
    if operation == "createKey":
        return past(body.get("expires_at")) or not one_line(body.get("name", ""))
    if operation == "registerDomain":  # a pack is a whole manifest, in the place of a service;
        # so is a bridge, whose fields belong together, and some to the bootstrap file only
        return any(kind in body for kind in ("pack", "mcp", "openapi"))
    if operation == "plan":  # there is no capability that an intent or a step could name
        return bool(body.get("intents")) or "draft" in body
    if operation in ("startSession", "runPlan"):  # webhooks go to a public https address
        return "webhook_url" in body
    return False


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """The words behind a step are tried with intents; with each step of a draft again,
    they would take more time than all other operations together."""
    raw_schema["components"]["schemas"]["DraftStep"]["properties"].pop("said", None)


@schemathesis.hook
def filter_case(context, case):
    meta = case.meta
    if meta is None or meta.generation.mode is not GenerationMode.POSITIVE:
        return True
    if case.query and case.query.get("cursor"):  # it is what a page before has given
        return False
    if has_zero(dict(case.query or {})) or has_zero(dict(case.path_parameters or {})):
        return False
    if not isinstance(case.body, dict):
        return True
    return not impossible(case.operation.definition.raw.get("operationId"), case.body)
