/** Texts of messages to patients. */
import type { MessageType } from '../../shared/domain/messages/message.ts'
import type { PlannedAppointment } from './appointments.ts'
import type { Bill } from './invoices.ts'
import type { Practice } from './practice.ts'

export type MessageContent = { readonly type: MessageType; readonly subject: string; readonly text: string }

type Sender = Pick<Practice, 'name' | 'greeting'>

const appointmentTime = ({ row }: PlannedAppointment): string =>
  `${row.appointment_date} at ${row.start_time}`

export const confirmation = (
  { name, greeting }: Sender,
  appointment: PlannedAppointment,
): MessageContent => ({
  type: 'confirmation',
  subject: `Your appointment on ${appointment.row.appointment_date}`,
  text: `${greeting} ${appointment.patient.first_name}, your appointment with ${appointment.doctor.full_name} is booked for ${appointmentTime(appointment)}. ${name}`,
})

export const reminder = ({ name, greeting }: Sender, appointment: PlannedAppointment): MessageContent => ({
  type: 'reminder',
  subject: 'Your appointment tomorrow',
  text: `${greeting} ${appointment.patient.first_name}, a reminder: ${appointment.doctor.full_name} expects you tomorrow, ${appointmentTime(appointment)}. Please call us if you cannot come. ${name}`,
})

export const results = (
  { name, greeting }: Sender,
  { patient, doctor }: PlannedAppointment,
): MessageContent => ({
  type: 'manual',
  subject: 'Your results',
  text: `${greeting} ${patient.first_name}, ${doctor.full_name} has your results. Please call us between 14:00 and 16:00. ${name}`,
})

export const invoiceReady = ({ name, greeting }: Sender, { patient, row }: Bill): MessageContent => ({
  type: 'system',
  subject: `Your invoice ${row.invoice_number}`,
  text: `${greeting} ${patient.first_name}, your invoice ${row.invoice_number} is ready at the front desk. ${name}`,
})

/** Too long for a list row. */
export const advice = (
  { name, greeting }: Sender,
  { patient, doctor }: PlannedAppointment,
): MessageContent => ({
  type: 'manual',
  subject: 'After your appointment',
  text: [
    `${greeting} ${patient.first_name},`,
    `thank you for coming to see ${doctor.full_name}. Here is what was agreed, so that you can read it again at home.`,
    'Please rest for the rest of the day and drink more than you usually do. You may eat whatever you like from the evening on. If you were given medicine, take it at the same times each day, with food, and finish the box even if you feel better before.',
    'A little pain or swelling on the first two days is normal, and a cold compress for ten minutes at a time helps. Call us if it gets worse after the third day, if you have a fever above 38.5 °C, or if anything else worries you; outside our hours, call the emergency number.',
    'Bring this letter and any reports from other places to your next appointment. If the date does not suit you, tell us two days before, and somebody else can have it.',
    name,
  ].join('\n\n'),
})
