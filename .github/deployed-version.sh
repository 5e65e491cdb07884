#!/usr/bin/env bash
# Prints the commit that the pipeline deployed last, or None. Fails if there is no stack. Who may change stacks may change this output.
set -euo pipefail
version=$(aws cloudformation describe-stacks --stack-name "ClinicDeveloperApi-$1" \
  --query "Stacks[0].Outputs[?OutputKey=='Version'].OutputValue | [0]" --output text)
[[ $version =~ ^[0-9a-f]{40}$ ]] || version=None
echo "$version"
