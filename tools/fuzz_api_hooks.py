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


def impossible(operation, body):
    if operation == "createKey":
        return past(body.get("expires_at"))
    if operation == "registerDomain":  # a pack is a whole manifest, in the place of a service
        return "pack" in body
    if operation == "plan":  # there is no capability that an intent could name
        return bool(body.get("intents"))
    if operation in ("startSession", "runPlan"):  # webhooks go to a public https address
        return "webhook_url" in body
    return False


@schemathesis.hook
def filter_case(context, case):
    meta = case.meta
    if meta is None or meta.generation.mode is not GenerationMode.POSITIVE:
        return True
    if case.query and case.query.get("cursor"):  # it is what a page before has given
        return False
    if not isinstance(case.body, dict):
        return True
    return not impossible(case.operation.definition.raw.get("operationId"), case.body)
