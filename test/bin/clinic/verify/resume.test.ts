/** A verification that is stopped, and continues with the part in which it was. */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openProgressFile } from '../../../../bin/clinic/verify/progress-file.ts'
import type { ReportedDifference } from '../../../../shared/maintenance/verify/comparison/difference.ts'
import { type VerifiedParts, verifyClinic } from '../../../../shared/maintenance/verify/verify-clinic.ts'
import { calendarPartition, ownerPartition } from '../../../../shared/store/keys/calendar.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { createPractice, type Practice } from '../../../shared/maintenance/verify/practice.ts'
import { deployedStack, rejection } from '../../../support/deployed-stack.ts'
import { tableOfFile } from '../../../support/table.ts'

const SIZE = { patients: 8, doctors: 2, appointments: 12, invoices: 6, payments: 5, messages: 4 }
const folder = mkdtempSync(join(tmpdir(), 'verify-resume-test-'))
const file = join(folder, 'progress.json')

const db = tableOfFile()
let practice: Practice
let run: Awaited<ReturnType<typeof deployedStack>>['run']
beforeAll(async () => {
  practice = await createPractice(db.table, SIZE)
  const { clinic, appointments } = practice
  const list = ownerPartition(clinic, 'A', 'patient', appointments[0]?.patient.id ?? '')
  await db.table.deleteMany(await db.table.query({ pk: list, limit: 1 }))
  run = (await deployedStack({ TableName: db.name, OperatorLogGroup: 'operator-group' })).run
})
beforeEach(() => rmSync(file, { force: true }))
afterAll(() => rmSync(folder, { recursive: true }))

/** The table, and the partitions that are read; those of `failing` cannot be read. */
function observed(failing?: string): { table: Table; partitions: Set<string> } {
  const partitions = new Set<string>()
  const query: Table['query'] = (range) => {
    partitions.add(range.pk)
    return range.pk === failing ? Promise.reject(new Error('stopped')) : db.table.query(range)
  }
  return { table: { ...db.table, query }, partitions }
}

async function verify(table: Table, before?: VerifiedParts) {
  const found: ReportedDifference[] = []
  let verified = before
  const settings = { repair: false, pauseMs: 2, gracePeriodMs: 50, before }
  const result = await verifyClinic(table, practice.clinic, {
    ...settings,
    onDifference: (difference) => found.push(difference),
    onPart: (parts) => {
      verified = structuredClone(parts)
    },
  }).catch((error: Error) => error)
  return { result, found, verified }
}

describe('a verification that was stopped', () => {
  it('continues with the part in which it was, and has the result of one that was not stopped', async () => {
    const messages = calendarPartition(practice.clinic, 'M')
    const stopped = await verify(observed(messages).table)
    expect(stopped.result).toEqual(new Error('stopped'))
    expect(stopped.found).toMatchObject([{ kind: 'row_missing' }])
    expect(stopped.verified).toMatchObject({
      parts: ['settings', 'patients', 'appointments', 'invoices'],
      differences: 1,
    })
    const { table, partitions } = observed()
    const { result, found } = await verify(table, stopped.verified)
    expect(result).toEqual((await verify(db.table)).result)
    expect(found).toEqual([])
    expect(partitions).toContain(messages)
    for (const entityCode of ['I', 'Y'] as const)
      expect(partitions).not.toContain(calendarPartition(practice.clinic, entityCode))
  })
})

describe('verify --resume', () => {
  /** Leaves the state of a command that was stopped after the invoices. */
  async function stop(given: { clinic: string; repair: boolean }): Promise<void> {
    const { verified, found } = await verify(observed(calendarPartition(practice.clinic, 'M')).table)
    const current = { ...(verified as VerifiedParts), listed: found }
    openProgressFile(file, given).save({ current })
  }

  it('continues, prints the differences of before, and removes the file at the end', async () => {
    await stop({ clinic: practice.clinic, repair: false })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const resumed = await run('--json', 'verify', '--clinic', practice.clinic, '--resume', file)
    expect(resumed.code).toBe(1)
    expect(existsSync(file)).toBe(false)
    const whole = await run('--json', 'verify', '--clinic', practice.clinic)
    expect(JSON.parse(resumed.printed).data).toEqual(JSON.parse(whole.printed).data)
    expect(JSON.parse(whole.printed).data).toMatchObject({ total: 1, differences: [{ kind: 'row_missing' }] })
  })

  it('rejects a file of another verification, of something else, and one that cannot be written', async () => {
    const verifyIt = (...args: string[]) => run('verify', '--clinic', practice.clinic, ...args)
    await stop({ clinic: practice.clinic, repair: false })
    expect(await rejection(verifyIt('--repair', '--resume', file))).toBe(
      `--resume ${file} is the progress of verify --clinic ${practice.clinic}: repeat that command, or choose another file.\n`,
    )
    expect((await run('verify', '--all', '--resume', file)).code).toBe(2)
    writeFileSync(file, '{"clinic":"1"}')
    const damaged = await verifyIt('--resume', file)
    expect(damaged.errors).toBe(`--resume ${file} is not the progress of a verification.\n`)
    expect(await rejection(verifyIt('--resume', join(folder, 'none', 'progress.json')))).toContain(
      'cannot be written',
    )
  })
})
