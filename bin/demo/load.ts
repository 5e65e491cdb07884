import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { type CredentialPair, DEFAULT_CELL } from '../../shared/domain/credential.ts'
import { SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { entityOf } from '../clinic/import/files/import-paths.ts'
import { requireExtension } from '../clinic/import/files/rows.ts'
import { convertFiles } from '../clinic/import/run/conversions.ts'
import { fileColumns, fileEntities } from '../clinic/import/run/file-entities.ts'
import { importFile } from '../clinic/import/run/import-file.ts'

/** A clinic in the ready line, with its credentials as `key:secret` by scope. */
export type ReadyClinic = {
  readonly id: string
  readonly name: string
  readonly timezone: string
  readonly credentials: Record<'full' | 'none' | Scope, string>
}

export type ClinicSettings = Omit<Clinic, 'appointmentMinutes' | 'createdAt'>

/**
 * Creates a clinic and imports the files of a folder, which are named after their entities. Records that exist are kept.
 * @throws Error that names the files and lines of rows that cannot be imported
 */
export async function loadFolder(
  table: Table,
  settings: ClinicSettings,
  folder: string,
): Promise<ReadyClinic> {
  const { id, name, timezone } = settings
  const clinic = await createClinic(table, settings)
  const files = importFiles(folder)
  using conversions = await convertFiles(
    files.map(({ path }) => path),
    { clinic },
  )
  for (const entity of fileEntities(table, Date.now))
    for (const { path: file } of files.filter((one) => one.entity === entity.name)) {
      const reasons: string[] = []
      await importFile({ file, conversions }, entity, clinic, {
        now: Date.now,
        onRejected: (line, all) => reasons.push(`${file}, line ${line}: ${all.join('; ')}`),
      })
      if (reasons.length > 0) throw new Error(reasons.join('\n'))
    }
  return { id, name, timezone, credentials: await issueAll(table, id) }
}

export const SETTINGS_FILE = 'clinic.json'

/**
 * The files of a folder except its settings and hidden ones.
 * @throws Error that names a file which cannot be imported by its name
 */
export function importFiles(
  folder: string,
): { readonly path: string; readonly entity: string | undefined }[] {
  const known = fileColumns().map(({ name }) => name)
  return readdirSync(folder)
    .filter((name) => name !== SETTINGS_FILE && !name.startsWith('.'))
    .sort()
    .map((name) => {
      requireExtension(join(folder, name))
      return { path: join(folder, name), entity: entityOf(name, undefined, known) }
    })
}

/** Creates a clinic, unless it exists. */
async function createClinic(table: Table, settings: ClinicSettings): Promise<Clinic> {
  const clinic = { ...settings, appointmentMinutes: 30, createdAt: '2023-01-02T06:00:00.000Z' }
  const clinics = clinicStore({ table })
  if (!(await clinics.find(clinic.id))) await clinics.create(clinic, demoImportSecret(clinic.id))
  return clinic
}

/** Made from the clinic's id: the ids of the demo's records are the same in every load. */
const demoImportSecret = (id: ClinicId): Uint8Array => Buffer.from(`The demo clinic ${id}`)

/** A credential for each scope, one for all and one for none. */
async function issueAll(table: Table, clinic: ClinicId): Promise<ReadyClinic['credentials']> {
  const store = credentialStore({ table, now: Date.now })
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
