import { describe, expect, it } from 'vitest'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { newClinic, tableOfFile } from '../../support/table.ts'

const db = tableOfFile()

const wanted = { name: 'Booking site', cell: 'eu7', scopes: [], expiresAt: null, requestsPerMinute: null }
const zoneOf = async (clinic: Parameters<ReturnType<typeof credentialStore>['list']>[0]) =>
  (await credentialStore({ ...db, now: Date.now }).list(clinic)).map((one) => one.clinic.timezone)

describe('changing a clinic', () => {
  it('keeps both of two concurrent changes', async () => {
    const { id } = await newClinic(db.table)
    const clinics = clinicStore(db)
    await Promise.all([
      clinics.update(id, { timezone: 'Europe/Berlin' }),
      clinics.update(id, { smsPerDay: 7 }),
      clinics.update(id, { currency: 'TRY' }),
    ])
    expect(await clinics.find(id)).toMatchObject({
      timezone: 'Europe/Berlin',
      smsPerDay: 7,
      currency: 'TRY',
      version: 4,
    })
  })

  it('reaches a credential that is issued concurrently', async () => {
    const { id } = await newClinic(db.table, { timezone: 'Europe/Istanbul' })
    const clinics = clinicStore(db)
    let isChanged = false
    // The clinic changes after the issuing command has read it, and before it writes the credential.
    const interrupted: Table = {
      ...db.table,
      tryTransact: async (writes) => {
        if (!isChanged) {
          isChanged = true
          const changed = await clinics.update(id, { timezone: 'Europe/Berlin' })
          await credentialStore({ ...db, now: Date.now }).refreshClinic(changed)
        }
        await db.table.tryTransact(writes)
      },
    }
    const issued = await credentialStore({ table: interrupted, now: Date.now }).issue({
      ...wanted,
      clinic: id,
    })
    expect(issued.key).toMatch(/^ck_eu7_[\w-]{16}$/)
    expect(issued.clinic.timezone).toBe('Europe/Berlin')
    expect(await zoneOf(id)).toEqual(['Europe/Berlin'])
  })

  it('is not undone by a late refresh of an earlier change', async () => {
    const { id } = await newClinic(db.table)
    const credentials = credentialStore({ ...db, now: Date.now })
    await credentials.issue({ ...wanted, clinic: id })
    const earlier = await clinicStore(db).update(id, { timezone: 'Europe/Berlin' })
    const later = await clinicStore(db).update(id, { timezone: 'Europe/Paris' })
    await credentials.refreshClinic(later)
    await credentials.refreshClinic(earlier)
    expect(await zoneOf(id)).toEqual(['Europe/Paris'])
  })
})
