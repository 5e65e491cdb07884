#!/usr/bin/env bash
# Deploys a stage from deployment/. CloudFormation rolls back a stack with code if an alarm of a release fires, or the smoke test fails,
# while the stack is updated or in the ten minutes after. Fails if anything was rolled back.
set -euo pipefail
api=ClinicDeveloperApi-$1
workers=$api-Workers

cdk() { node deployment/cdk/bin/cdk "$1" --app deployment/assembly "${@:2}"; }
deploy() { cdk deploy --require-approval never "$@"; }
smoke() { [ -z "${SMOKE_URL:-}" ] || node bin/smoke.ts --url "$SMOKE_URL"; }

# A repair has to be deployed while the test fails. A first version is deployed before there is anything to test.
smoke && works=yes || works=no
still_works() { [ "$works" = no ] || smoke; }

# Deploys one stack, and books in the test clinic until it is deployed.
deploy_watched() {
  local stack=$1 deployment
  deploy "$stack" --exclusively "${triggers[@]}" &
  deployment=$!
  while sleep 60 && kill -0 "$deployment" 2> /dev/null; do
    # An update that has not begun, or has ended, cannot be cancelled: the next test decides.
    still_works || aws cloudformation cancel-update-stack --stack-name "$stack" || true
  done
  wait "$deployment" && still_works
}

# The alarms with periods of a minute: CloudFormation takes five.
names=()
for id in api-failing messaging-failing events-failing function-throttles table-throttles; do
  names+=("clinic-developer-api-$1-$id")
done
# An assignment of its own, so that nothing is deployed if the states cannot be read.
alarms=$(aws cloudwatch describe-alarms --alarm-types MetricAlarm --alarm-names "${names[@]}" \
  --query 'MetricAlarms[].[StateValue,AlarmArn]' --output text)
none=(--rollback-trigger-alarm-arns none --monitoring-time-minutes 0)
triggers=()
while read -r state arn; do
  # While an alarm is on, no update with it as a trigger would succeed, and so no repair.
  [ "$state" != ALARM ] || { triggers=() && break; }
  [ -z "$arn" ] || triggers+=(--rollback-trigger-alarm-arns "$arn")
done <<< "$alarms"
if [ "${#triggers[@]}" -gt 0 ]; then triggers+=(--monitoring-time-minutes 10); else triggers=("${none[@]}"); fi

# The stacks that the code needs. Not every stage has the second one.
deploy "$api-Data" ClinicDeveloperApi-SmsReceipts
# A stack without changes would be watched for ten minutes all the same.
cdk diff "$workers" --exclusively --fail --method=template > /dev/null 2>&1 || deploy_watched "$workers"
deploy_watched "$api"
[ "$works" = yes ] || smoke
# A stack keeps its triggers, which would apply to updates by hand. This removes them, and deploys the other stacks.
deploy --all "${none[@]}"
