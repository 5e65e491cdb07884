/** A request whose work is done, but whose optional work would take longer than the request may. */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import {
  type RealisticDynamoDb,
  startRealisticDynamoDb,
} from '../../infra/local/realistic-dynamodb/realistic-dynamodb.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { patientSegmentPartition } from '../../shared/store/keys/patients.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../shared/store/patients/patients.ts'
import { issueCredential } from '../support/credentials.ts'
import { call, lambdaContext } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { SHORT_LATENCY } from '../support/realistic-table.ts'
import { aPatient, newClinic, tableOfFile } from '../support/table.ts'

/** Creations after which the next one takes a snapshot of the search index. */
const DUE = 512
const BATCH = 16

const db = tableOfFile()
let dynamodb: RealisticDynamoDb
let clinic: Clinic
let headers: Record<string, string>

beforeAll(async () => {
  dynamodb = await startRealisticDynamoDb({ engine: inject('dynamodb'), latency: SHORT_LATENCY })
  stubFunctionEnvironment(db.name, { AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint })
})
afterAll(() => dynamodb.close())
beforeEach(async () => {
  dynamodb.faults.clear()
  clinic = await newClinic(db.table)
  const writer = patientWriter(db)
  for (let count = 0; count < DUE; count += BATCH)
    await writer.createMany(
      clinic.id,
      Array.from({ length: BATCH }, () => aPatient()),
    )
  headers = { ...(await issueCredential(db.table, clinic)).headers, 'content-type': 'application/json' }
})

describe('a creation that takes a snapshot of the search index', () => {
  it.each([
    [
      'is rejected again and again',
      { kind: 'items-throttled', operation: 'TransactWriteItems', times: 1000 },
      6000,
    ],
    ['waits for a read that never returns', { kind: 'held', operation: 'Query' }, 3000],
  ] as const)('returns 201, not 504, when the snapshot %s', async (_, fault, remainingMs) => {
    const keyPrefix = patientSegmentPartition(clinic.id, 0)
    dynamodb.resetCounts()
    dynamodb.faults.next({ ...fault, keyPrefix })
    const create = await handlerOf({ id: 'create-patient' })
    const body = JSON.stringify({ first_name: 'Ada', last_name: 'Kaya' })
    const { status } = await call(create, { method: 'POST', headers, body }, lambdaContext(remainingMs))
    expect(status).toBe(201)
    expect(dynamodb.counts().faults[fault.kind]).toBeDefined()
    expect((await patientStore(db).page(clinic.id, { page: 1, limit: 1 })).total).toBe(DUE + 1)
  })
})
