"""Starts ministack so that functions have the rights of their roles from their first call on, and prints every check as JSON.

SIGUSR1 switches the checks on, and off again: the CDK deploys while they are off. The emulator lacks `dynamodb:LeadingKeys`, and the
identity and the address that an email is sent from, which are added here. It checks a batch of messages as an action of its own.
"""

import contextvars
import json
import os
import signal

from ministack import app
from ministack.core import iam_actions, iam_evaluator, lambda_runtime

functions = {}
request = contextvars.ContextVar("request", default={})

signal.signal(signal.SIGUSR1, lambda *_: setattr(app, "AUTH", not app.AUTH))


def credentials(config, original=lambda_runtime.execution_credentials):
    before, app.AUTH = app.AUTH, True
    found = original(config)
    app.AUTH = before
    functions[found["AWS_ACCESS_KEY_ID"]] = config["FunctionName"]
    print(json.dumps({"function": config["FunctionName"], "started": True}), flush=True)
    return found


def action(service, method, path, headers, body, *rest, original=iam_actions.extract_iam_action):
    request.set(json.loads(body) if body[:1] == b"{" else {})
    found = original(service, method, path, headers, body, *rest)
    return "sqs:SendMessage" if found == "sqs:SendMessageBatch" else found


def partition_keys(call, name):
    """The partition keys of a request. A check of a transaction concerns the items with its action."""
    items = [part for item in call.get("TransactItems", []) for kind, part in item.items() if name == f"dynamodb:{kind}Item"]
    batches = [batch["Keys"] if "Keys" in batch else batch for batch in call.get("RequestItems", {}).values()]
    parts = items or [part.get("PutRequest") or part.get("DeleteRequest") or part for batch in batches for part in batch] or [call]
    keys = [part.get("Key") or part.get("Item") or {"pk": part.get("ExpressionAttributeValues", part).get(":pk", part.get("pk"))} for part in parts]
    return [key["pk"]["S"] for key in keys]


def enforce(key, name, service, region, resource_arn="*", service_context=None, original=iam_evaluator.enforce):
    context = dict(service_context or {})
    if service == "dynamodb" and key in functions and name != "dynamodb:Scan":
        context["dynamodb:LeadingKeys"] = partition_keys(request.get(), name)
    if name == "ses:SendEmail" and resource_arn == "*":
        context["ses:FromAddress"] = request.get()["FromEmailAddress"].split("<")[-1].rstrip(">")
        resource_arn = f"arn:aws:ses:{region}:{os.environ['MINISTACK_ACCOUNT_ID']}:identity/{context['ses:FromAddress']}"
    denied = original(key, name, service, region, resource_arn, context)
    print(json.dumps({"function": functions.get(key), "action": name, "denied": denied is not None, "on": resource_arn}), flush=True)
    return denied


lambda_runtime.execution_credentials, iam_actions.extract_iam_action, iam_evaluator.enforce = credentials, action, enforce
app.main()
