/** Creations whose response must not wait for the snapshot of the search index that follows them. */
import { describe, expect, it } from 'vitest'
import { patientSegmentPartition } from '../../shared/store/keys/patients.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../shared/store/patients/patients.ts'
import { issueCredential } from '../support/credentials.ts'
import { call, lambdaContext } from '../support/event.ts'
import { handlerOf } from '../support/functions.ts'
import { realisticTableOfFunctions } from '../support/realistic-table.ts'
import { aPatient, newClinic } from '../support/table.ts'

const { db, dynamodb } = realisticTableOfFunctions()

describe('a creation that takes a snapshot of the search index', () => {
  /** Creations after which the next one takes a snapshot. */
  const DUE = 512
  const BATCH = 16

  it.each([
    [
      'is rejected repeatedly',
      { kind: 'items-throttled', operation: 'TransactWriteItems', times: 1000 },
      6000,
    ],
    ['waits for a read that never returns', { kind: 'held', operation: 'Query' }, 3000],
  ] as const)('returns 201, not 504, when the snapshot %s', async (_, fault, remainingMs) => {
    const clinic = await newClinic(db.table)
    const writer = patientWriter(db)
    for (let count = 0; count < DUE; count += BATCH)
      await writer.createMany(
        clinic.id,
        Array.from({ length: BATCH }, () => aPatient()),
      )
    const { headers } = await issueCredential(db.table, clinic)
    const keyPrefix = patientSegmentPartition(clinic.id, 0)
    dynamodb.resetCounts()
    dynamodb.faults.next({ ...fault, keyPrefix })
    const { status } = await call(
      await handlerOf({ id: 'create-patient' }),
      {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ first_name: 'Ada', last_name: 'Kaya' }),
      },
      lambdaContext(remainingMs),
    )
    expect(status).toBe(201)
    expect(dynamodb.counts().faults[fault.kind]).toBeDefined()
    expect((await patientStore(db).page(clinic.id, { page: 1, limit: 1 })).total).toBe(DUE + 1)
  })
})
