import { expect, it, onTestFinished } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { invoiceNumbers } from '../../../../shared/store/calendar/invoice-numbers.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'

it('awaits each read of a number, also if one of them has failed', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.prependListener('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const unavailable = () => Promise.reject(new Error('unavailable'))
  const get = ({ sk }: { sk: string }) => (sk === '2026' ? Promise.resolve(undefined) : unavailable())
  const table = { get, query: unavailable } as unknown as Table
  const changes = new Changeset(table, '018f0000-0000-7000-8000-000000000001' as ClinicId)
  await expect(invoiceNumbers(table).next(changes, '2026', 'i', true)).rejects.toThrow('unavailable')
  await new Promise((resolve) => setTimeout(resolve))
  expect(unhandled).toEqual([])
})
