"""Starts ministack so that functions have the rights of their roles from their first call on, and prints every check as JSON.

SIGUSR1 switches the checks on, and off again: the CDK deploys while they are off. The emulator lacks `dynamodb:LeadingKeys`, which
are added here, and checks the sending of a batch of messages as an action of its own.
"""

import contextvars
import json
import signal

from ministack import app
from ministack.core import iam_actions, iam_evaluator, lambda_runtime

functions = {}
request = contextvars.ContextVar("request", default={})
ITEM_ACTIONS = {"Get": "GetItem", "Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}

signal.signal(signal.SIGUSR1, lambda *_: setattr(app, "AUTH", not app.AUTH))


def credentials(config, original=lambda_runtime.execution_credentials):
    before, app.AUTH = app.AUTH, True
    found = original(config)
    app.AUTH = before
    functions[found["AWS_ACCESS_KEY_ID"]] = config["FunctionName"]
    print(json.dumps({"function": config["FunctionName"], "started": True}), flush=True)
    return found


def action(*call, original=iam_actions.extract_iam_action):
    found = original(*call)
    return "sqs:SendMessage" if found == "sqs:SendMessageBatch" else found


def table_context(body, original=iam_actions.dynamodb_service_context):
    request.set(json.loads(body or b"{}"))
    return original(body)


def partition_keys(call, name):
    """The partition keys of a request. A check of a transaction concerns the items with its action."""
    items = [part for item in call.get("TransactItems", []) for kind, part in item.items() if name.endswith(ITEM_ACTIONS[kind])]
    batches = [batch["Keys"] if "Keys" in batch else batch for batch in call.get("RequestItems", {}).values()]
    parts = items or [part.get("PutRequest") or part.get("DeleteRequest") or part for batch in batches for part in batch] or [call]
    keys = [part.get("Key") or part.get("Item") or {"pk": part.get("ExpressionAttributeValues", part).get(":pk", part.get("pk"))} for part in parts]
    return [key["pk"]["S"] for key in keys]


def enforce(key, name, service, region, resource_arn="*", service_context=None, original=iam_evaluator.enforce):
    names_items = service == "dynamodb" and key in functions and name != "dynamodb:Scan"
    added = {"dynamodb:LeadingKeys": partition_keys(request.get(), name)} if names_items else {}
    denied = original(key, name, service, region, resource_arn, {**(service_context or {}), **added})
    print(json.dumps({"function": functions.get(key), "action": name, "denied": denied is not None, "on": resource_arn, **added}), flush=True)
    return denied


lambda_runtime.execution_credentials = credentials
iam_actions.extract_iam_action, iam_actions.dynamodb_service_context = action, table_context
iam_evaluator.enforce = enforce
app.main()
