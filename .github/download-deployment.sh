#!/usr/bin/env bash
# Downloads what the run of deploy.yml on main built of a commit for a stage. Artifacts of other runs have the same names, and could be
# made by anyone who can push a branch, or a tag named main.
set -euo pipefail
case $(gh api "repos/$GITHUB_REPOSITORY/compare/$2...$GITHUB_SHA" --jq .status) in
  ahead | identical) ;;
  *) echo "$2 is not a commit of main" >&2 && exit 1 ;;
esac
run=$(gh run list --workflow deploy.yml --branch main --event push --commit "$2" --limit 1 --json databaseId --jq '.[].databaseId')
# Without a run, gh would take the artifact of any run.
gh run download "${run:?no run has built $2}" --name "deployment-$1" --dir "$3"
