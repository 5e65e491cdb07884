#!/usr/bin/env bash
# Prints the commit that the pipeline deployed last, or None. Fails if there is no stack.
set -euo pipefail
aws cloudformation describe-stacks --stack-name "ClinicDeveloperApi-$1" \
  --query "Stacks[0].Outputs[?OutputKey=='Version'].OutputValue | [0]" --output text
