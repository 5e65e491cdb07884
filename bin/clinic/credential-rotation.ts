import type { Command } from 'commander'
import { credentialChanges, type RotationOutcome } from '../../shared/store/credential-changes.ts'
import { connect } from './connection.ts'
import { requireKey } from './credential-keys.ts'
import { parseFuture } from './credential-options.ts'
import { credentialJson, secretLines } from './credential-text.ts'
import { credentialRefusal } from './credential-updates.ts'
import { CommandFailure, print } from './output.ts'

/** How long the previous secret is accepted without `--until`. */
const OVERLAP_HOURS = 24

type RotateOptions = { until?: string; endPrevious?: boolean }

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
    .action(async (text: string, { until, endPrevious = false }: RotateOptions, command: Command) => {
      const key = requireKey(text)
      const end = endOfOverlap(until)
      const table = await connect(command)
      const outcome = await credentialChanges({ table, now: Date.now }).rotate(key, end, endPrevious)
      if (outcome.kind !== 'rotated') throw rotationRefusal(key, outcome)
      const { credential, secret } = outcome
      const json = credentialJson(credential)
      print(command, { ...json, secret }, [
        ...secretLines(key, secret),
        json.previous_secret_until === null
          ? 'The previous secret is not accepted any more.'
          : `The previous secret is accepted until ${json.previous_secret_until}.`,
      ])
    })
}

function endOfOverlap(until: string | undefined): string {
  if (until === 'now') return new Date().toISOString()
  if (until === undefined) return new Date(Date.now() + OVERLAP_HOURS * 3_600_000).toISOString()
  return parseFuture('until', until)
}

function rotationRefusal(
  key: string,
  outcome: Exclude<RotationOutcome, { kind: 'rotated' }>,
): CommandFailure {
  if (outcome.kind !== 'rotating') return credentialRefusal(key, outcome.kind)
  return new CommandFailure(
    `Credential ${key} was rotated already: its previous secret is accepted until ${outcome.until}. To rotate it again, which ends that secret at once, repeat the command with --end-previous.`,
  )
}
