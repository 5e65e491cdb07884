/** What a newcomer does in the first hour, with the client: in ten requests or fewer. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, vi } from 'vitest'
import { createClient, verifyWebhook } from '../../shared/clients/typescript/client.ts'
import { assertConforms } from '../support/conformance.ts'
import { runStack } from '../support/local-stack.ts'

it('lists patients, books the first free slot, sends an email, receives and verifies its webhook', async () => {
  const received: { headers: Record<string, string>; body: string }[] = []
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    received.push({ headers: request.headers as Record<string, string>, body })
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const stack = await runStack({ allowedWebhookHost: address })
  try {
    const [key = '', secret = ''] = (stack.clinics[0]?.credentials.full ?? '').split(':')
    let requests = 0
    const counting = async (url: string, init: RequestInit): Promise<Response> => {
      requests++
      const response = await fetch(url, init)
      const body = await response.clone().json()
      assertConforms(
        init.method ?? '',
        new URL(url).pathname,
        response.status,
        Object.fromEntries(response.headers),
        body,
      )
      return response
    }
    const clinic = createClient({ baseUrl: stack.baseUrl, key, secret, fetch: counting as typeof fetch })

    const { data: webhook } = await clinic.webhooks.create({
      url: `http://${address}/hooks`,
      events: ['email.sent'],
    })
    const { data: patients } = await clinic.patients.list({ limit: 100 })
    const patient = patients.find(({ email_address }) => email_address !== null)
    const { data: doctors } = await clinic.doctors.list()
    const doctor = doctors.find(({ is_active }) => is_active)
    if (!patient || !doctor) throw new Error('the demo clinic has patients and doctors')
    let booked: string | undefined
    for (let day = 1; !booked; day++) {
      const date = new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10)
      const { data: slots } = await clinic.availability.get({ doctor_id: doctor.id, date })
      const [slot] = slots
      if (!slot) continue
      const { data } = await clinic.appointments.book({
        patient_id: patient.id,
        doctor_id: doctor.id,
        appointment_date: date,
        start_time: slot.start_time,
      })
      booked = data.id
    }
    const sent = await clinic.messages.send({
      channel: 'email',
      patient_id: patient.id,
      message: 'See you soon',
    })
    expect(sent.data.status).toBe('queued')
    await vi.waitFor(() => expect(received.length).toBe(1), { timeout: 15_000 })
    const { headers = {}, body = '' } = received[0] ?? {}
    const event = await verifyWebhook<any>({ headers, body, secret: webhook.secret ?? '' })
    expect(event).toMatchObject({ event: 'email.sent', data: { patient_id: patient.id, status: 'sent' } })
    expect(requests).toBeLessThanOrEqual(10)
  } finally {
    receiver.close()
    await stack.close()
  }
}, 60_000)
