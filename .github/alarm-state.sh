#!/usr/bin/env bash
# Prints the state of the alarm that fires when patients are affected: OK, ALARM, INSUFFICIENT_DATA, or None without one.
set -euo pipefail
aws cloudwatch describe-alarms --alarm-types CompositeAlarm \
  --alarm-names "clinic-developer-api-$1-patients-affected" \
  --query 'CompositeAlarms[0].StateValue' --output text
