import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { trialTable } from '../../../../bin/clinic/import/run/trial-table.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { writeRows } from '../../../support/imports.ts'
import { NOW } from '../../../support/table.ts'
import { appointment, FIRST, importedClinic, invoice, lines, message, payment } from './calendar-fixtures.ts'

const imported = importedClinic()
const { load, loadFile, invoices } = imported

const unknown = (kind: string): string =>
  `${kind}_external_id is unknown: the clinic has no such ${kind}, or its row was rejected`

describe('importing appointments', () => {
  it('clear what does not hold at another time, or of one that is no longer cancelled, unless the file has it', async () => {
    const at = (hour: number) => `2026-03-01T0${hour}:00:00.000Z`
    const clear = { confirmedAt: null, checkedInAt: null, cancelledAt: null, cancellationReason: null }
    const moved = { start_time: '09:10' }
    for (const [before, after, kept] of [
      [{ confirmed_at: at(1), checked_in_at: at(2) }, moved, {}],
      [{ confirmed_at: at(1) }, { ...moved, confirmed_at: at(4) }, { confirmedAt: at(4) }],
      [{ status: 'cancelled', cancelled_at: at(3), cancellation_reason: 'Ill' }, {}, {}],
    ]) {
      const row = { ...appointment, status: 'scheduled', external_id: JSON.stringify(before) }
      await load('appointments', [{ ...row, ...before }])
      await load('appointments', [{ ...row, ...after }])
      const id = await imported.idOf('appointment', row.external_id)
      const stored = await appointmentStore(imported.db).find(imported.clinic.id, id)
      expect(stored?.record).toMatchObject({ status: 'scheduled', ...clear, ...kept })
    }
  })
})

describe('importing the care that invoices bill', () => {
  const [consultation, test] = lines
  const billed = {
    ...{ ...invoice, appointment_external_id: 'a', doctor_external_id: 1 },
    line_items: [
      { ...consultation, treatment_external_id: 'T' },
      { ...test, doctor_external_id: 'E 2' },
    ],
  }
  const careOf = async () =>
    (await invoices()).map(({ appointmentId, doctor, lineItems }) => [
      appointmentId,
      doctor?.fullName,
      ...lineItems.map((item) => [item.doctor?.fullName, item.treatment?.name]),
    ])
  let ids: Awaited<ReturnType<typeof readImportIds>>

  beforeEach(async () => {
    await load('doctors', [{ external_id: 'E 2', full_name: 'Dr. Bo Lind' }])
    await load('treatments', [{ external_id: 'T', name: 'Check-up', duration_minutes: 30, price: 1 }])
    await load('appointments', [appointment])
    ids = await readImportIds(imported.db.table, imported.clinic.id)
  })

  it('sets the doctor of the invoice on lines without one, and changes nothing when it is repeated', async () => {
    expect(await load('invoices', [billed])).toMatchObject({ imported: 1, reasons: [] })
    const care = [
      ids('appointment', 'a'),
      'Dr. Eva Noll',
      ['Dr. Eva Noll', 'Check-up'],
      ['Dr. Bo Lind', undefined],
    ]
    expect(await careOf()).toEqual([care])
    expect(await load('invoices', [billed])).toMatchObject({ unchanged: 1 })
    // A file without the columns keeps what they have set.
    const { invoice_number, patient_external_id, issue_date, external_id } = invoice
    const bare = { external_id, invoice_number, patient_external_id, issue_date, due_date: '2026-05-01' }
    expect(await load('invoices', [bare])).toMatchObject({ updated: 1, reasons: [] })
    expect(await careOf()).toEqual([care])
  })

  it('adds it to an invoice that was imported without, and removes it by empty cells', async () => {
    await load('invoices', [{ ...invoice, line_items: lines }])
    expect(await careOf()).toEqual([[null, undefined, [undefined, undefined], [undefined, undefined]]])
    const doctor = { ...invoice, doctor_external_id: 'E 2' }
    expect(await load('invoices', [doctor])).toMatchObject({ updated: 1, reasons: [] })
    expect(await careOf()).toEqual([
      [null, 'Dr. Bo Lind', ['Dr. Bo Lind', undefined], ['Dr. Bo Lind', undefined]],
    ])
    const removed = { ...billed, appointment_external_id: null, doctor_external_id: null }
    for (const row of [billed, removed])
      expect(await load('invoices', [row])).toMatchObject({ updated: 1, reasons: [] })
    expect(await careOf()).toEqual([[null, undefined, [undefined, 'Check-up'], ['Dr. Bo Lind', undefined]]])
  })

  it("changes the doctor of lines that took the invoice's, and of no line that was given one", async () => {
    const row = { ...billed, line_items: [consultation, { ...test, doctor_external_id: 1 }] }
    await load('invoices', [row])
    const doctors = async () =>
      (await careOf())[0]?.slice(1).map((one) => (Array.isArray(one) ? one[0] : one))
    expect(await doctors()).toEqual(['Dr. Eva Noll', 'Dr. Eva Noll', 'Dr. Eva Noll'])
    const { line_items: _, ...care } = billed
    for (const [doctor, expected] of [
      ['E 2', ['Dr. Bo Lind', 'Dr. Bo Lind', 'Dr. Eva Noll']],
      [null, [undefined, undefined, 'Dr. Eva Noll']],
    ] as const) {
      const changed = { ...care, doctor_external_id: doctor }
      expect(await load('invoices', [changed])).toMatchObject({ updated: 1, reasons: [] })
      expect(await doctors()).toEqual(expected)
    }
  })

  it('keeps the names of the last change when a doctor and a treatment are renamed', async () => {
    await load('invoices', [billed])
    await load('doctors', [{ external_id: 1, full_name: 'Dr. Eva Maria Noll' }])
    await load('treatments', [{ external_id: 'T', name: 'Examination', duration_minutes: 30, price: 1 }])
    await load('payments', [payment])
    const [before] = await careOf()
    expect(before?.slice(1, 3)).toEqual(['Dr. Eva Noll', ['Dr. Eva Noll', 'Check-up']])
    await load('invoices', [{ ...billed, due_date: '2026-05-01' }])
    const [after] = await careOf()
    expect(after?.slice(1, 3)).toEqual(['Dr. Eva Maria Noll', ['Dr. Eva Maria Noll', 'Examination']])
  })

  it('reads ids of records, also of line items', async () => {
    const [doctor, treatment] = [ids('doctor', 'E 2'), ids('treatment', 'T')]
    const row = { ...invoice, appointment_id: ids('appointment', 'a'), doctor_id: ids('doctor', '1') }
    const items = [{ ...consultation, doctor_id: doctor, treatment_id: treatment }]
    expect(await load('invoices', [{ ...row, line_items: items }])).toMatchObject({
      imported: 1,
      reasons: [],
    })
    expect(await careOf()).toEqual([[ids('appointment', 'a'), 'Dr. Eva Noll', ['Dr. Bo Lind', 'Check-up']]])
  })

  it("rejects another patient's appointment, and warns where the appointment has moved since", async () => {
    await load('appointments', [{ ...appointment, external_id: 'b', patient_external_id: 2 }])
    expect(await load('invoices', [{ ...billed, appointment_external_id: 'b' }])).toMatchObject({
      reasons: ['appointment_external_id is an appointment of another patient'],
    })
    await load('invoices', [billed])
    await load('appointments', [{ ...appointment, patient_external_id: 2 }])
    expect(await load('invoices', [{ ...billed, due_date: '2026-05-01' }])).toMatchObject({
      updated: 1,
      warned: ['1: appointment_external_id has moved to another patient'],
    })
  })
})

describe('importing invoices', () => {
  const items = (count: number, letter: string) =>
    Array(count).fill({ description: letter.repeat(500), unit_price: 1 })
  const TOO_LARGE = 'the invoice is too large: at most 48 KB as JSON'

  const gold = { description: 'Gold', unit_price: '9000000000' }
  it.each<[string, object[], string]>([
    [
      'whose product is not stored exactly',
      [{ ...gold, quantity: 9_000_000 }],
      'line_items.0.unit_price is too large when multiplied by quantity',
    ],
    [
      'whose tax is not stored exactly',
      [{ ...gold, quantity: 100, tax_rate: 10_000 }],
      'line_items.0.tax_amount is too large',
    ],
    [
      'whose total is not stored exactly',
      Array(200).fill({ ...gold, quantity: 100 }),
      'subtotal is too large; total_amount is too large',
    ],
    ['that is larger than an item of the table', items(200, '\u{10400}'), TOO_LARGE],
    ['that is too large for a page once its quotes are escaped', items(30, '"'), TOO_LARGE],
  ])('rejects an invoice %s, and imports the others', async (_, line_items, reason) => {
    const other = { ...invoice, external_id: 'other', invoice_number: '8', line_items: lines }
    const result = await load('invoices', [{ ...invoice, line_items }, other])
    expect(result).toMatchObject({ imported: 1, rejected: 1 })
    expect(result.reasons[0]?.slice(0, reason.length)).toBe(reason)
  })
})

describe('importing payments', () => {
  beforeEach(() => load('invoices', [{ ...invoice, subtotal: 100 }]))

  it('takes the beginning of their day for the time of a file that has none, but none to come', async () => {
    await load('payments', [{ ...payment, external_id: 1, amount: 30, payment_date: '2026-03-03' }])
    await load('payments', [{ ...payment, external_id: 2, amount: 70 }])
    expect(await invoices()).toMatchObject([{ status: 'paid', paidAt: '2026-04-01T21:00:00.000Z' }])
    await load('payments', [{ ...payment, external_id: 3, amount: 1, payment_date: '2030-01-01' }])
    expect(await invoices()).toMatchObject([{ paidAt: new Date(NOW).toISOString() }])
  })
  it('warns of payments beyond the balance, and of a total that becomes less than what is paid', async () => {
    const pending = { ...payment, status: 'pending' }
    const BEYOND = 'amount with the other payments is more than the total of the invoice'
    expect(await load('payments', [pending])).toMatchObject({ warned: [] })
    const second = { ...payment, external_id: 2, amount: 90 }
    expect(await load('payments', [second])).toMatchObject({ imported: 1, warned: [`1: ${BEYOND}`] })
    const completed = { ...payment, status: 'completed' }
    expect(await load('payments', [completed])).toMatchObject({ updated: 1, warned: [`1: ${BEYOND}`] })
    expect(await load('invoices', [{ ...invoice, subtotal: 120 }])).toMatchObject({ warned: [] })
    expect(await load('invoices', [{ ...invoice, subtotal: 109 }])).toMatchObject({
      updated: 1,
      warned: ['1: total_amount is less than what is paid'],
    })
  })

  it('rejects payments that add up to more than an amount can be', async () => {
    const rows = Array.from({ length: 12 }, (_, n) => ({
      ...payment,
      external_id: n,
      amount: 900_000_000_000,
    }))
    const reasons = ['amount is too large with the other payments of the invoice']
    expect(await load('payments', rows)).toMatchObject({ imported: 11, reasons })
    expect(await load('payments', rows)).toMatchObject({ unchanged: 11, reasons })
    expect(await invoices()).toMatchObject([{ paid: 11 * 90_000_000_000_000 }])
  })

  const refund = { ...payment, external_id: 'r', type: 'refund' }
  const OVER = 'refunds of the invoice, pending ones included, would be more than what was paid'

  it.each([
    [{ amount: 20.01 }],
    [{ amount: '-20.01', type: undefined }],
    [{ amount: 20.01, status: 'pending' }],
  ])('rejects a refund of more than was paid, %j, and imports the others', async (facts) => {
    const file = join(imported.folder, 'payments.ndjson')
    writeRows(file, [payment, { ...refund, ...facts }, { ...refund, external_id: 's', amount: 5 }])
    const { imported: count, rejections } = await loadFile('payments', file)
    expect([count, rejections]).toEqual([2, [`2: ${OVER}`]])
    expect(await invoices()).toMatchObject([{ paid: 1500 }])
  })

  it('writes refunds after the payments that they return, in whatever order the file has them', async () => {
    const pairs = Array.from({ length: 70 }, (_, n) => n)
    const rows = [
      { ...refund, external_id: 'too much', amount: 71 },
      ...pairs.map((n) => ({ ...refund, external_id: `r${n}`, amount: 1 })),
      ...pairs.map((n) => ({ ...payment, external_id: `p${n}`, amount: 1 })),
    ]
    const outcome = { updated: 0, rejected: 1, rejections: [`1: ${OVER}`] }
    using trial = trialTable(imported.db.table)
    const tried = await load('payments', rows, trial, { isTrial: true })
    expect(tried).toMatchObject({ imported: 140, ...outcome })
    expect(await load('payments', rows)).toEqual(tried)
    expect(await invoices()).toMatchObject([{ status: 'refunded', paid: 0 }])
    expect(await load('payments', rows)).toMatchObject({ unchanged: 140, ...outcome })
    const rejected = readFileSync(join(imported.folder, 'payments.rejected.ndjson'), 'utf8')
    expect(JSON.parse(rejected.trim())).toMatchObject({ external_id: 'too much' })
  })

  it.each([{ amount: 59 }, { status: 'failed' }])(
    'rejects %j of a payment that was refunded, and changes nothing',
    async (change) => {
      const paid = { ...payment, amount: 100 }
      await load('payments', [paid, { ...refund, amount: 60 }])
      expect(await load('payments', [{ ...paid, ...change }])).toMatchObject({ rejected: 1, reasons: [OVER] })
      expect(await invoices()).toMatchObject([{ paid: 4000 }])
      expect(await load('payments', [paid, { ...refund, amount: 60 }])).toMatchObject({ unchanged: 2 })
    },
  )

  it('rejects a row whose refund has lost its minus sign, unless it says the type, and changes nothing', async () => {
    const row = { ...payment, external_id: 'r', amount: -5 }
    await load('payments', [payment, row])
    for (const more of [{}, { type: null }])
      expect(await load('payments', [{ ...row, ...more, amount: 5 }])).toMatchObject({
        reasons: ['type is required: the payment is a refund, and its amount is not negative'],
      })
    expect(await invoices()).toMatchObject([{ paid: 1500 }])
    expect(await load('payments', [{ ...row, amount: 5, type: 'payment' }])).toMatchObject({ updated: 1 })
    expect(await invoices()).toMatchObject([{ paid: 2500 }])
  })

  it('changes a payment and its refund together', async () => {
    await load('payments', [payment, { ...refund, amount: 20 }])
    const rows = [
      { ...payment, amount: 12 },
      { ...refund, amount: 12 },
    ]
    expect(await load('payments', rows)).toMatchObject({ updated: 2, rejected: 0 })
    expect(await invoices()).toMatchObject([{ status: 'refunded', paid: 0 }])
    const larger = [
      { ...refund, amount: 30 },
      { ...payment, amount: 30 },
    ]
    expect(await load('payments', larger)).toMatchObject({ updated: 2, rejected: 0 })
  })

  it('rejects a change of their invoice, and of the number, patient and currency of an invoice that has payments', async () => {
    await load('payments', [payment])
    await load('invoices', [{ ...invoice, external_id: 'other', invoice_number: '9', subtotal: 100 }])
    const bill = { ...invoice, subtotal: 100 }
    for (const [name, row, reason] of [
      ['payments', { ...payment, invoice_external_id: 'other' }, 'invoice_external_id cannot change'],
      ['invoices', { ...bill, invoice_number: '8' }, 'invoice_number cannot change once there are payments'],
      [
        'invoices',
        { ...bill, patient_external_id: 2 },
        'patient_external_id cannot change once there are payments',
      ],
      ['invoices', { ...bill, currency: 'JPY' }, 'currency cannot change once there are payments'],
    ] as const)
      expect(await load(name, [row])).toMatchObject({ reasons: [reason] })
    expect((await invoices()).map(({ paid }) => paid).sort()).toEqual([0, 2000])
  })

  it('keeps voided payments, which do not count, and rejects what contradicts that', async () => {
    const voided = {
      ...payment,
      status: 'failed',
      voided_at: '2026-04-03T10:00:00Z',
      void_reason: 'Mistyped',
    }
    expect(await load('payments', [voided])).toMatchObject({ imported: 1, reasons: [] })
    const { reasons } = await load('payments', [
      { ...payment, status: 'completed' },
      { ...voided, external_id: 2, status: undefined },
      { ...payment, external_id: 3, void_reason: 'Mistyped' },
    ])
    expect(reasons).toEqual([
      'the payment was voided, so its status is failed and cannot become completed',
      'status must be failed, as the payment has voided_at',
      'void_reason needs voided_at',
    ])
    expect(await invoices()).toMatchObject([{ paid: 0 }])
  })
})

describe('importing messages', () => {
  it('lists them by the clinic-local day on which they were accepted', async () => {
    expect(await load('messages', [message])).toMatchObject({ imported: 1, reasons: [] })
    const { items } = await messageStore(imported.db).page(
      imported.clinic.id,
      { from: '2026-05-01', facets: ['email'] },
      FIRST,
    )
    expect(items).toMatchObject([
      { acceptedOn: '2026-05-01', text: 'Hello\nAda', status: 'sent', type: 'manual' },
    ])
  })
})

const ROWS = {
  appointments: appointment,
  invoices: { ...invoice, line_items: lines },
  payments: payment,
  messages: message,
}
const item = (wrong: object) => ({ line_items: [lines[0], { ...lines[1], ...wrong }] })
const WRONG: Record<keyof typeof ROWS, [object, unknown][]> = {
  appointments: [
    [{ patient_external_id: 9 }, unknown('patient')],
    [{ doctor_external_id: 9 }, unknown('doctor')],
    [{ patient_external_id: null }, 'patient_external_id is required'],
    [{ appointment_date: '2026-02-30' }, 'appointment_date is not a date that exists'],
    [{ appointment_date: '2200-01-01' }, 'appointment_date must not be after 2199-12-31'],
    [{ created_at: '2200-01-01T00:00:00Z' }, 'created_at must be from 0001-01-02 to 2199-12-31'],
    [{ created_at: '0000-01-01T00:00:00+14:00' }, 'created_at must be from 0001-01-02 to 2199-12-31'],
    [{ start_time: '9:00' }, 'start_time must be a time from 00:00 to 23:59, as HH:MM'],
    [{ end_time: '24:00' }, 'end_time must be a time from 00:00 to 23:59, as HH:MM'],
    [{ end_time: '08:00' }, 'end_time must be after start_time, on the same day'],
    [{ status: 'missed' }, 'status must be one of scheduled, completed, cancelled, no_show'],
    [{ notes: 'x'.repeat(2001) }, 'notes must have at most 2000 characters'],
  ],
  invoices: [
    [{ appointment_external_id: 'x' }, unknown('appointment')],
    [{ doctor_external_id: 9 }, unknown('doctor')],
    [{ doctor_id: 'Dr. Noll' }, expect.stringMatching(/^doctor_id must have ids of records/)],
    [item({ doctor_external_id: 9 }), `line_items.1.${unknown('doctor')}`],
    [item({ treatment_external_id: 'x' }), `line_items.1.${unknown('treatment')}`],
    [item({ treatment_id: 'x' }), 'line_items.1.treatment_id must be the id of a record'],
    [
      item({ doctor_external_id: 1, doctor_id: '1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b' }),
      'line_items.1.doctor_id must not be combined with doctor_external_id',
    ],
    [item({ doctor_external_id: ' ' }), expect.stringMatching(/^line_items.1.doctor_external_id /)],
    [{ subtotal: '1.005' }, 'subtotal must be a number with at most 2 decimals in EUR'],
    [{ subtotal: '10000000000000' }, 'subtotal is too large'],
    [
      { currency: 'JPY', subtotal: 1.5, line_items: undefined },
      'subtotal must be a number with at most 0 decimals in JPY',
    ],
    [{ subtotal: 1, issue_date: '2200-01-01' }, 'issue_date must not be after 2199-12-31'],
    [{ subtotal: 1, due_date: '9999-12-31' }, 'due_date must not be after 2199-12-31'],
    [{ currency: 'euro', subtotal: 1 }, 'currency must be an ISO 4217 code such as EUR (did you mean EUR?)'],
    [{ subtotal: 1, status: 'open' }, expect.stringContaining('status must be one of draft, pending, sent')],
    [{ line_items: 'nonsense' }, 'line_items must be a JSON array of line items'],
  ],
  payments: [
    [{ invoice_external_id: 'x' }, unknown('invoice')],
    [{ amount: 0 }, 'amount must be a positive number with at most 2 decimals in EUR'],
    [{ payment_date: '2200-01-01' }, 'payment_date must not be after 2199-12-31'],
    [{ amount: '10000000000000' }, 'amount is too large'],
    [{ currency: 'USD' }, 'currency must be EUR, the currency of the invoice'],
    [{ payment_method: 'gold' }, 'payment_method must be one of cash, card, bank_transfer, insurance, other'],
  ],
  messages: [
    [{ channel: 'fax' }, 'channel must be one of sms, email'],
    [{ channel: 'sms', subject: 'x' }, 'subject is only allowed for emails'],
    [{ provider: 'sns' }, 'provider must be sns for sms, ses for email'],
    [{ patient_external_id: 9 }, unknown('patient')],
  ],
}

it.each(
  Object.entries(WRONG).flatMap(([name, cases]) =>
    cases.map((one) => [name as keyof typeof ROWS, ...one] as const),
  ),
)('rejects a row of %s with %j, and imports the others', async (name, wrong, reason) => {
  if (name === 'payments') await load('invoices', [{ ...invoice, subtotal: 100 }])
  const other = { ...ROWS[name], external_id: 'other', invoice_number: name === 'invoices' ? '8' : undefined }
  const rows = [{ ...ROWS[name], ...wrong }, other]
  expect(await load(name, rows)).toMatchObject({ imported: 1, rejected: 1, reasons: [reason] })
})
