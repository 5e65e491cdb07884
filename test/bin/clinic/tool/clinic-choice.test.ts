/** The clinic that a command concerns. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Clinic, ClinicId } from '../../../../shared/domain/clinic.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
import { runTool } from '../../../support/operator-tool.ts'
import { newClinic } from '../../../support/table.ts'

const { db, run } = deployedTable({ Cell: 'a' })
let nord: Clinic
let sued: Clinic

const runWith = (env: Record<string, string>, ...args: string[]) =>
  runTool(['--stack', 'clinic', ...args], env)

beforeAll(async () => {
  const withId = (id: string, name: string) => newClinic(db.table, { id: id as ClinicId, name })
  nord = await withId('aaaa1111-0000-7000-8000-000000000001', 'Praxis Nord')
  sued = await withId('aaaa2222-0000-7000-8000-000000000002', 'Praxis Süd')
  for (const end of [3, 4]) await withId(`bbbb0000-0000-7000-8000-00000000000${end}`, 'Twin')
})

describe('--clinic', () => {
  it.each(['praxis süd', 'PRAXIS SUD', 'aaaa2222', 'AAAA2222-0000-7000-8000-000000000002'])(
    'selects a clinic by %j, which the access trail has as an id',
    async (text) => {
      const { printed, lines } = await run('clinic', 'show', '--json', '--clinic', text)
      expect(JSON.parse(printed).data.name).toBe(sued.name)
      expect(lines.map(({ clinic_id }) => clinic_id)).toEqual([sued.id, sued.id])
    },
  )

  it.each([
    ['twin', '2 clinics match twin. Specify the id of one:\nbbbb0000-0000-7000-8000-000000000003  Twin\n'],
    [
      'aaaa',
      '2 clinics match aaaa. Specify the id of one:\naaaa1111-0000-7000-8000-000000000001  Praxis Nord\n',
    ],
    ['aaa', 'Clinic aaa does not exist. Run "clinic list" to see all clinics.\n'],
    ['', 'Specify the clinic with --clinic, or in CLINIC.\n'],
  ])('of %j exits with code 2', async (text, message) => {
    expect(await rejection(run('clinic', 'show', '--clinic', text))).toContain(message)
  })
})

it('a command without --clinic uses CLINIC', async () => {
  expect((await run('show')).code).toBe(2)
  expect((await runWith({ CLINIC: 'praxis süd' }, 'show')).printed).toContain(sued.name)
  expect((await runWith({ CLINIC: 'praxis süd' }, 'show', '--clinic', nord.id)).printed).toContain(nord.name)
})

it('a clinic that does not exist is reported with where its id comes from', async () => {
  const unknown = 'aaaa1111-0000-7000-8000-000000000009'
  expect((await runWith({ CLINIC: unknown }, 'show')).errors).toContain(
    `${unknown} of CLINIC does not exist.`,
  )
  expect((await runWith({ CLINIC: 'Nowhere' }, 'show')).errors).toContain('Nowhere of CLINIC does not exist.')
})

it('a write names its clinic, on stderr or in the JSON, and a read does not', async () => {
  const credential = (...args: string[]) => runWith({ CLINIC: nord.id }, 'credential', ...args)
  const issue = ['create', '--name', 'Booking', '--scopes', 'none']
  expect((await credential(...issue)).errors).toBe(`Clinic: Praxis Nord (${nord.id})\n`)
  const { printed, errors } = await credential(...issue, '--json')
  expect([errors, JSON.parse(printed).clinic]).toEqual(['', { id: nord.id, name: nord.name }])
  expect((await credential('list')).errors).toBe('')
})

it('the plural of a noun is accepted', async () => {
  expect((await run('dead-letters', '--help')).printed).toContain('Usage: clinic dead-letter')
})
