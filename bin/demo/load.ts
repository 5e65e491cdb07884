import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { importEntities } from '../../shared/import/entities.ts'
import { importFile } from '../../shared/import/import-file.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import type { Table } from '../../shared/store/table.ts'
import { type DemoClinic, demoClinics } from './clinics.ts'

/** What the ready line tells of a demo clinic: its credentials as `key:secret`, by what they may do. */
export type ReadyClinic = {
  readonly id: string
  readonly name: string
  readonly timezone: string
  readonly credentials: Record<'full' | 'none' | Scope, string>
}

/** Makes the demo clinics and loads their records by the importer that real clinics use. */
export async function loadDemo(table: Table): Promise<ReadyClinic[]> {
  const folder = mkdtempSync(join(tmpdir(), 'clinic-demo-'))
  try {
    return await Promise.all(
      demoClinics().map((demo, index) => loadClinic(table, demo, join(folder, `${index}-`))),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function loadClinic(table: Table, demo: DemoClinic, prefix: string): Promise<ReadyClinic> {
  const { name, timezone, currency } = demo
  const clinic: Clinic = {
    id: newUuid() as ClinicId,
    name,
    timezone,
    currency,
    appointmentMinutes: 30,
    createdAt: '2023-01-02T06:00:00.000Z',
  }
  await clinicStore({ table }).create(clinic)
  for (const entity of importEntities(table, Date.now)) {
    const file = `${prefix}${entity.name}.ndjson`
    const rows = demo[entity.name as 'doctors' | 'patients']
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const { rejected } = await importFile(file, entity, clinic, { now: Date.now })
    if (rejected > 0) throw new Error(`${rejected} rows of the demo's ${entity.name} were rejected`)
  }
  return { id: clinic.id, name, timezone, credentials: await issueAll(table, clinic) }
}

async function issueAll(
  table: Table,
  { id, name, timezone, currency }: Clinic,
): Promise<ReadyClinic['credentials']> {
  const store = credentialStore({ table, now: Date.now })
  const kinds: [string, readonly Scope[]][] = [
    ['full', SCOPES],
    ['none', []],
    ...SCOPES.map((scope): [string, readonly Scope[]] => [scope, [scope]]),
  ]
  const pairs = kinds.map(async ([kind, scopes]) => {
    const { key, secret } = await store.issue({
      name: `Demo: ${kind}`,
      clinic: { id, name, timezone, currency },
      scopes,
      expiresAt: null,
      requestsPerMinute: null,
    })
    return [kind, `${key}:${secret}`]
  })
  return Object.fromEntries(await Promise.all(pairs))
}
