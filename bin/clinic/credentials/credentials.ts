import type { Command } from 'commander'
import * as z from 'zod'
import { suggestion } from '../../../shared/domain/closest-name.ts'
import type { CredentialWithUse } from '../../../shared/domain/credential.ts'
import { singleLineText } from '../../../shared/domain/patients/text-fields.ts'
import { isScope, SCOPES } from '../../../shared/domain/scope.ts'
import {
  type CredentialChanges,
  credentialChanges,
  type RotationOutcome,
} from '../../../shared/store/credential-changes.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { Instant } from '../../../shared/sync/entities/row-fields.ts'
import { nameOf, operatorOf } from '../tool/command-trail.ts'
import { cellOf, connect, openClinic } from '../tool/connection.ts'
import { addFields, type Fields, fieldsOf, numberOf, requireChange } from '../tool/fields.ts'
import {
  CommandFailure,
  changeLine,
  formatTable as lines,
  nameClinic,
  parseOption,
  print,
} from '../tool/output.ts'
import { guardWrites } from '../tool/write-guard.ts'
import { addRevocation, endpointsOf } from './credential-revocation.ts'
import {
  credentialCells,
  credentialJson,
  requireKey,
  secretLines,
  unknownCredential,
} from './credential-text.ts'

const SCOPE_LIST = `"all", "none" or a comma-separated list of ${SCOPES.join(', ')}`

const MAX_NAME = 100
const TEMPORARY_HOURS = 8

const Name = singleLineText(MAX_NAME).refine((name) => !/\bcs_[\w-]{8,}/.test(name), {
  error: 'must not contain the secret of a credential',
})

const Scopes = z.string().transform((text, context) => {
  if (text === 'all') return [...SCOPES]
  if (text === 'none') return []
  const names = text.split(',').map((name) => name.trim())
  const wrong = names.filter((name) => !isScope(name)).map((name) => `${name}${suggestion(name, SCOPES)}`)
  if (wrong.length > 0)
    context.addIssue(`has unknown scopes: ${wrong.join(', ')}. Valid scopes are ${SCOPES.join(', ')}.`)
  return SCOPES.filter((scope) => names.includes(scope))
})

/** An instant to come, as ISO 8601 in UTC. To be parsed after the stack is connected, which may have a clock of its own. */
const FutureInstant = Instant.refine((instant) => Date.parse(instant) > Date.now(), {
  error: 'is past: it must be in the future. To end the use of a credential now, revoke it.',
})

const Rate = numberOf('requests per minute')

const CHANGES = {
  name: { flags: '--name <name>', schema: Name },
  scopes: { flags: '--scopes <list>', description: SCOPE_LIST, schema: Scopes },
  expiresAt: {
    flags: '--expires <timestamp>',
    description: 'expiry, e.g. 2027-01-01T00:00:00+03:00, or "never"',
    schema: FutureInstant,
    words: { never: null },
  },
  requestsPerMinute: {
    flags: '--rate <number>',
    description: 'requests per minute, or "default" for the stage\'s limit',
    schema: Rate,
    words: { default: null },
  },
} satisfies Fields<CredentialChanges>

const WHO = 'who uses it, e.g. the name of the integration'

const NEW: Fields<CredentialChanges> = {
  ...CHANGES,
  name: { ...CHANGES.name, description: WHO, isRequired: true },
  scopes: { ...CHANGES.scopes, isRequired: true },
}

export function addCredentialCommands(group: Command): void {
  const create = group
    .command('create')
    .description('issue a credential; its secret is shown only once')
    .addHelpText(
      'after',
      '\nExample: clinic credential create --clinic "Praxis Nord" --name Booking --scopes appointment.read,appointment.write',
    )
  addFields(create, NEW).action((given: object, command: Command) =>
    issue(
      command,
      () => ({ expiresAt: null, requestsPerMinute: null, ...fieldsOf(NEW, given) }) as NewSettings,
    ),
  )

  const { scopes, expiresAt } = CHANGES
  addFields(
    group
      .command('create-temporary')
      .description(
        'issue a credential that is named after you, for eight hours and reading unless an option says otherwise',
      ),
    { scopes, expiresAt },
  ).action((given: object, command: Command) =>
    issue(command, () => ({
      name: operatorOf(command).slice(-MAX_NAME),
      scopes: SCOPES.filter((scope) => scope.includes('.read')),
      expiresAt: new Date(Date.now() + TEMPORARY_HOURS * 3_600_000).toISOString(),
      requestsPerMinute: null,
      ...fieldsOf<CredentialChanges>({ scopes, expiresAt }, given),
    })),
  )

  group
    .command('list')
    .description("list a clinic's credentials, without secrets")
    .action(async (_: object, command: Command) => {
      const { table, clinic } = await openClinic(command)
      const credentials = await credentialStore({ table, now: Date.now }).list(clinic.id)
      print(command, { data: credentials.map(credentialJson) }, lines(credentials.map(credentialCells)))
    })

  group
    .command('show')
    .description('show a credential and its clinic, without its secret')
    .argument('<key>')
    .action(async (text: string, _: object, command: Command) => {
      const { credential } = await openCredential(command, requireKey(text))
      const { id, name } = credential.clinic
      print(command, credentialJson(credential), [
        ...lines([credentialCells(credential)]),
        `clinic ${name}, ${id}`,
      ])
    })

  addUpdate(group)
  addRotation(group)
  addRevocation(group)
}

/** Issues a credential with what `settings` returns once the stack is connected. */
async function issue(command: Command, settings: () => NewSettings): Promise<void> {
  const { table, clinic } = await openClinic(command)
  const cell = await cellOf(command)
  const store = credentialStore({ table, now: Date.now })
  const credential = await store.issue({ ...settings(), clinic: clinic.id, cell })
  const { key, secret } = credential
  print(command, { ...credentialJson(credential), secret }, secretLines(key, secret))
}

/** The credential with this key, and its table. From now on, a deletion or a restore of its clinic ends the writes to the table. */
async function openCredential(command: Command, key: string) {
  const table = await connect(command)
  const credential = await credentialStore({ table, now: Date.now }).find(key)
  if (!credential) throw unknownCredential(key)
  guardWrites(table, credential.clinic.id, nameOf(command))
  return { table, credential }
}

type NewSettings = Required<CredentialChanges>

function addUpdate(group: Command): void {
  const update = group
    .command('update')
    .description('change a credential, effective from the next request')
    .argument('<key>')
  addFields(update, CHANGES).action(async (text: string, given: object, command: Command) => {
    const key = requireKey(text)
    requireChange({ ...given })
    const { table } = await openCredential(command, key)
    const changes = fieldsOf<CredentialChanges>(CHANGES, given)
    const outcome = await credentialChanges({ table, now: Date.now }).change(key, changes)
    if (!('credential' in outcome)) throw credentialRejection(key, outcome.kind)
    const { credential, kind } = outcome
    nameClinic(command, credential.clinic)
    print(command, credentialJson(credential), [
      changeLine(kind !== 'same', `Changed credential ${key}`, `credential ${key} has these values already`),
      ...(changes.scopes ? await webhookNotes(table, credential) : []),
    ])
  })
}

/** Why a credential was not changed. */
function credentialRejection(key: string, kind: 'unknown' | 'revoked' | 'expired'): CommandFailure {
  if (kind === 'unknown') return unknownCredential(key)
  if (kind === 'revoked')
    return new CommandFailure(
      `Credential ${key} is revoked, which is final. "credential create" issues another.`,
    )
  return new CommandFailure(`Credential ${key} has expired. "credential update ${key} --expires" extends it.`)
}

/** Endpoints receive events independently of the scopes that their credential has now. */
async function webhookNotes(table: Table, { key, clinic }: CredentialWithUse): Promise<string[]> {
  const ids = await endpointsOf(table, clinic.id, [key])
  if (ids.length === 0) return []
  return [`It has created webhook endpoints, which keep receiving the same events: ${ids.join(', ')}`]
}

/** How long the previous secret is accepted without `--until`. */
const OVERLAP_HOURS = 24

type RotateOptions = { until?: string; endPrevious?: boolean; replaceCurrent?: boolean }

function addRotation(group: Command): void {
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
      const { until, endPrevious, replaceCurrent } = given
      const key = requireKey(text)
      if (endPrevious && replaceCurrent)
        throw new CommandFailure('Use --end-previous or --replace-current, not both.')
      const duringOverlap = replaceCurrent ? 'replace-current' : endPrevious ? 'end-previous' : 'reject'
      const { table } = await openCredential(command, key)
      const overlap = until === 'now' ? 0 : OVERLAP_HOURS * 3_600_000
      const end =
        until === undefined || until === 'now'
          ? new Date(Date.now() + overlap).toISOString()
          : parseOption('until', FutureInstant, until)
      const outcome = await credentialChanges({ table, now: Date.now }).rotate(key, end, duringOverlap)
      if (outcome.kind !== 'rotated') throw rotationRejection(key, outcome)
      const { credential, secret } = outcome
      nameClinic(command, credential.clinic)
      const json = credentialJson(credential)
      print(command, { ...json, secret }, [
        ...secretLines(key, secret),
        json.previous_secret_until === null
          ? 'The previous secret is no longer accepted.'
          : `The previous secret is accepted until ${json.previous_secret_until}.`,
      ])
    })
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
