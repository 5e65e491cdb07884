import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clinic, ClinicId, ClinicInfo } from '../../shared/domain/clinic.ts'
import { type CredentialPair, DEFAULT_CELL } from '../../shared/domain/credential.ts'
import { SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { importEntities } from '../clinic/import/entities/entities.ts'
import { importFile } from '../clinic/import/run/import-file.ts'
import { type DemoClinic, demoClinics } from './clinics.ts'

/** A demo clinic in the ready line, with its credentials as `key:secret` by scope. */
export type ReadyClinic = {
  readonly id: string
  readonly name: string
  readonly timezone: string
  readonly credentials: Record<'full' | 'none' | Scope, string>
}

/** The time zone of the first demo clinic. */
export const DEMO_TIMEZONE = 'Europe/Istanbul'

/** The day, as `Y-m-d` in UTC, that the records of the demo are around. */
export const currentDay = (): string => new Date().toISOString().slice(0, 10)

/** Creates the demo clinics as of `today` (`Y-m-d`) and imports their records with the importer of the operator tool. */
export const loadDemo = (table: Table, today: string, now: () => number): Promise<ReadyClinic[]> =>
  Promise.all(demoClinics(today).map((demo) => loadClinic(table, demo, now)))

/** Loads one demo clinic. Records that exist are kept, so an interrupted load can be repeated. */
export async function loadClinic(table: Table, demo: DemoClinic, now = Date.now): Promise<ReadyClinic> {
  const { id, name, timezone, currency, contact } = demo
  const clinic = await createClinic(table, { id, name, timezone, currency, ...contact })
  const folder = mkdtempSync(join(tmpdir(), 'clinic-demo-'))
  try {
    const load = fileLoader(table, demo, clinic, folder, now)
    await load('departments')
    await Promise.all([load('doctors'), load('patients'), load('rooms')])
    await load('treatments')
    // Files that do not refer to each other are loaded concurrently: importer and engine use one core each.
    await Promise.all([
      load('price-lists'),
      load('appointments'),
      load('invoices').then(() => load('payments')),
      load('messages'),
    ])
  } finally {
    rmSync(folder, { recursive: true })
  }
  return { id, name, timezone, credentials: await issueAll(table, id, now) }
}

/** Creates a clinic, unless it exists. */
export async function createClinic(
  table: Table,
  settings: Omit<Clinic, 'appointmentMinutes' | 'createdAt'>,
): Promise<Clinic> {
  const clinic = { ...settings, appointmentMinutes: 30, createdAt: '2023-01-02T06:00:00.000Z' }
  const clinics = clinicStore({ table })
  if (!(await clinics.find(clinic.id))) await clinics.create(clinic, demoImportSecret(clinic.id))
  return clinic
}

/** Made from the clinic's id: the ids of the demo's records are the same in every load. */
const demoImportSecret = (id: ClinicId): Uint8Array => Buffer.from(`The demo clinic ${id}`)

function fileLoader(table: Table, demo: DemoClinic, clinic: Clinic, folder: string, now: () => number) {
  const entities = new Map(importEntities(table, now).map((entity) => [entity.name, entity]))
  return async (name: keyof Omit<DemoClinic, keyof ClinicInfo | 'contact'>): Promise<void> => {
    const entity = entities.get(name)
    if (!entity) throw new Error(`no importer for ${name}`)
    const file = join(folder, `${name}.ndjson`)
    writeFileSync(file, demo[name].map((row) => `${JSON.stringify(row)}\n`).join(''))
    const { rejected } = await importFile(file, entity, clinic, { now })
    if (rejected > 0) throw new Error(`${rejected} rows of the demo ${name} were rejected`)
  }
}

/** A credential for each scope, one for all and one for none. */
export async function issueAll(
  table: Table,
  clinic: ClinicId,
  now = Date.now,
): Promise<ReadyClinic['credentials']> {
  const store = credentialStore({ table, now })
  const kinds: [string, readonly Scope[]][] = [
    ['full', SCOPES],
    ['none', []],
    ...SCOPES.map((scope): [string, readonly Scope[]] => [scope, [scope]]),
  ]
  const pairs = kinds.map(async ([kind, scopes]) => {
    const pair = demoPair(clinic, kind)
    const isIssued = (await store.find(pair.key)) !== null
    const credential = { name: `Demo: ${kind}`, clinic, cell: DEFAULT_CELL, scopes }
    if (!isIssued) await store.issue({ ...credential, expiresAt: null, requestsPerMinute: null }, pair)
    return [kind, `${pair.key}:${pair.secret}`]
  })
  return Object.fromEntries(await Promise.all(pairs))
}

/**
 * The same at every start, so that integrations keep working. The pair is public: this folder is imported by programs for one
 * machine only, never by functions or the operator tool.
 */
function demoPair(clinic: ClinicId, kind: string): CredentialPair {
  const bytes = createHash('sha512').update(`Demo credential ${clinic} ${kind}`).digest()
  return {
    key: `ck_${DEFAULT_CELL}_${bytes.subarray(0, 12).toString('base64url')}`,
    secret: `cs_${bytes.subarray(12, 44).toString('base64url')}`,
  }
}
