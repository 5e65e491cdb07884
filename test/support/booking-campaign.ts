/** Clients that book, move and cancel over the same doctors and rooms, and what must hold of the calendar afterwards. */
import { expect } from 'vitest'
import { newUuid } from '../../shared/domain/uuid.ts'
import { type RandomSource, seededRandom } from './realistic-dynamodb/random.ts'
import { formatMinute } from './slot-oracle.ts'

/** Sends a request of a client and returns the response. */
export type SendRequest = (
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: object,
  key?: string,
) => Promise<{ status: number; body: any }>

export type Campaign = {
  readonly clients: number
  /** Requests of each client. */
  readonly requests: number
  readonly seed: number
  readonly patient: string
  readonly doctors: readonly string[]
  readonly rooms: readonly string[]
  readonly dates: readonly string[]
}

/** The hours of the doctors, in minutes: few enough for the clients to collide. */
export const OPENING = { from: 8 * 60, to: 14 * 60 }

const ROOM = (appointment: any): string | null => appointment.room?.id ?? null

/** Runs all clients at the same time. Returns the appointments as the last responses had them, and counts of responses. */
export async function runCampaign(campaign: Campaign, send: SendRequest) {
  const known = new Map<string, any>()
  const counts: Record<string, number> = {}
  const clients = Array.from({ length: campaign.clients }, (_, index) =>
    runClient(campaign, send, seededRandom(campaign.seed, `client ${index}`), known, counts),
  )
  await Promise.all(clients)
  return { known, counts }
}

async function runClient(
  { requests, patient, doctors, rooms, dates }: Campaign,
  send: SendRequest,
  random: RandomSource,
  known: Map<string, any>,
  counts: Record<string, number>,
): Promise<void> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const own: string[] = []
  const time = () => ({
    start_time: formatMinute(OPENING.from + 5 * Math.floor((random() * (OPENING.to - OPENING.from)) / 5)),
    duration: pick([15, 20, 30, 45]),
  })
  const place = () => ({
    doctor_id: pick(doctors),
    appointment_date: pick(dates),
    room_id: pick([...rooms, ...rooms, null]),
  })
  /** A 503 says that the request may be repeated; its key makes the repetition safe. */
  const submit = async (name: string, method: 'POST' | 'PATCH', path: string, body: object) => {
    const key = newUuid()
    for (let attempt = 0; ; attempt++) {
      const response = await send(method, path, body, key)
      counts[`${name} ${response.status}`] = (counts[`${name} ${response.status}`] ?? 0) + 1
      if (response.status !== 503 || attempt === 20) return response
    }
  }
  const settle = ({ status, body }: { status: number; body: any }, allowed: readonly number[]): void => {
    expect({ allowed, status, body }).toMatchObject({ status: expect.toBeOneOf([...allowed]) })
    if (status < 300) known.set(body.data.id, body.data)
    if (status === 201) own.push(body.data.id)
  }
  for (let n = 0; n < requests; n++) {
    const id = pick(own)
    const roll = random()
    if (id === undefined || roll < 0.5)
      settle(
        await submit('book', 'POST', '/appointments', { patient_id: patient, ...place(), ...time() }),
        [201, 409, 422],
      )
    else if (roll < 0.85) {
      const changes = pick([time(), place(), { ...time(), ...place() }, { room_id: pick(rooms) }])
      settle(await submit('move', 'PATCH', `/appointments/${id}`, changes), [200, 409, 422])
    } else {
      const action = pick(['cancel', 'cancel', 'no-show', 'complete', 'confirm'])
      settle(await submit(action, 'POST', `/appointments/${id}/${action}`, {}), [200, 409, 422])
    }
  }
}

/** Demands that the calendar is what the responses said, without overlaps, and that every other time is free. */
export async function expectSoundCalendar(
  { doctors, rooms, dates }: Campaign,
  known: ReadonlyMap<string, any>,
  send: SendRequest,
): Promise<void> {
  const stored: any[] = []
  for (let page = 1; ; page++) {
    const { body } = await send('GET', `/appointments?limit=100&page=${page}`)
    stored.push(...body.data)
    if (page >= body.meta.total_pages) break
  }
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
  // Nothing was lost, nothing was doubled, and each appointment is as its last change left it.
  expect(stored.toSorted(byId)).toEqual([...known.values()].sort(byId))
  const busy = stored.filter(({ status }) => status === 'scheduled' || status === 'completed')
  for (const [at, one] of busy.entries())
    for (const two of busy.slice(at + 1)) {
      const isSame = one.doctor.id === two.doctor.id || (ROOM(one) !== null && ROOM(one) === ROOM(two))
      const isOverlap =
        isSame &&
        one.appointment_date === two.appointment_date &&
        one.start_time < two.end_time &&
        two.start_time < one.end_time
      expect(isOverlap ? [one, two] : []).toEqual([])
    }
  for (const doctor of doctors)
    for (const room of [null, ...rooms]) await expectFreeTimes(send, doctor, room, dates, busy)
}

/** Demands that availability lists exactly the times that no appointment of the doctor or in the room takes. */
async function expectFreeTimes(
  send: SendRequest,
  doctor: string,
  room: string | null,
  dates: readonly string[],
  busy: readonly any[],
): Promise<void> {
  const last = dates.at(-1) as string
  const query = `doctor_id=${doctor}&date=${dates[0]}&date_to=${last}&duration=5${room ? `&room_id=${room}` : ''}`
  const { body } = await send('GET', `/availability?${query}`)
  const listed = body.data.map(({ date, start_time }: any) => `${date} ${start_time}`)
  const expected = dates.flatMap((date) => {
    const taken = busy.filter(
      (one) => one.appointment_date === date && (one.doctor.id === doctor || (room && ROOM(one) === room)),
    )
    const starts = Array.from({ length: (OPENING.to - OPENING.from) / 5 }, (_, n) => OPENING.from + 5 * n)
    return starts
      .filter((from) =>
        taken.every(
          ({ start_time, end_time }) =>
            formatMinute(from + 5) <= start_time || end_time <= formatMinute(from),
        ),
      )
      .map((from) => `${date} ${formatMinute(from)}`)
  })
  expect(listed).toEqual(expected)
}
