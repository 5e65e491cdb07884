import type { Command } from 'commander'
import {
  credentialChanges,
  type DuringOverlap,
  type RotationOutcome,
} from '../../../shared/store/credential-changes.ts'
import { connect } from '../tool/connection.ts'
import { CommandFailure, print } from '../tool/output.ts'
import { parseFuture, requireKey } from './credential-options.ts'
import { credentialJson, secretLines } from './credential-text.ts'
import { credentialRejection } from './credential-updates.ts'

/** How long the previous secret is accepted without `--until`. */
const OVERLAP_HOURS = 24

type RotateOptions = { until?: string; endPrevious?: boolean; replaceCurrent?: boolean }

/** Adds `rotate`. */
export function addRotation(group: Command): void {
  group
    .command('rotate')
    .description('replace the secret of a credential; the previous one is accepted for a while')
    .argument('<key>')
    .option(
      '--until <timestamp>',
      `until when the previous secret is accepted, or "now" (default: ${OVERLAP_HOURS} hours)`,
    )
    .option('--end-previous', 'end the overlap of an earlier rotation')
    .option(
      '--replace-current',
      'replace the secret of the last rotation, which was lost; the previous one is still accepted',
    )
    .action(async (text: string, given: RotateOptions, command: Command) => {
      const key = requireKey(text)
      const end = endOfOverlap(given.until)
      const duringOverlap = parseDuringOverlap(given)
      const table = await connect(command)
      const outcome = await credentialChanges({ table, now: Date.now }).rotate(key, end, duringOverlap)
      if (outcome.kind !== 'rotated') throw rotationRejection(key, outcome)
      const { credential, secret } = outcome
      const json = credentialJson(credential)
      print(command, { ...json, secret }, [
        ...secretLines(key, secret),
        json.previous_secret_until === null
          ? 'The previous secret is no longer accepted.'
          : `The previous secret is accepted until ${json.previous_secret_until}.`,
      ])
    })
}

function parseDuringOverlap({ endPrevious, replaceCurrent }: RotateOptions): DuringOverlap {
  if (endPrevious && replaceCurrent)
    throw new CommandFailure('Use --end-previous or --replace-current, not both.')
  if (replaceCurrent) return 'replace-current'
  return endPrevious ? 'end-previous' : 'reject'
}

function endOfOverlap(until: string | undefined): string {
  if (until === 'now') return new Date().toISOString()
  if (until === undefined) return new Date(Date.now() + OVERLAP_HOURS * 3_600_000).toISOString()
  return parseFuture('until', until)
}

function rotationRejection(
  key: string,
  outcome: Exclude<RotationOutcome, { kind: 'rotated' }>,
): CommandFailure {
  if (outcome.kind === 'not-rotating')
    return new CommandFailure(
      `Credential ${key} has no previous secret that is still accepted, so its current secret may be in use. Rotate it without --replace-current.`,
    )
  if (outcome.kind !== 'rotating') return credentialRejection(key, outcome.kind)
  return new CommandFailure(
    `Credential ${key} was rotated already: its previous secret is accepted until ${credentialJson(outcome.credential).previous_secret_until}. If the new secret was lost, repeat the command with --replace-current: the previous one stays accepted. With --end-previous, the previous one is rejected at once.`,
  )
}
