import type { ClinicId } from '../../shared/domain/clinic.ts'
import { appointmentsOf } from './appointments.ts'
import { BOSPHORUS, type ClinicOffer, catalogueOf, PATAN } from './catalogue.ts'
import { billsOf } from './invoices.ts'
import { messagesOf } from './messages.ts'
import { ISTANBUL, KATHMANDU, patients } from './patients.ts'
import { paymentsOf } from './payments.ts'
import type { Practice } from './practice.ts'
import { NPR_PRICES, TRY_PRICES } from './price-lists.ts'
import { seeded } from './random.ts'

/** A demo clinic with the rows of its import files. */
export type DemoClinic = ReturnType<typeof demoClinics>[number]

/**
 * Two clinics in different time zones, one of them not a whole hour from UTC, each with records of the year before
 * `today` and bookings for the weeks after it. The records depend on `today` only; the people do not depend on it.
 */
export const demoClinics = (today: string) => [
  {
    id: 'b05f0a1e-7c1d-4d0a-9e55-2f1d3c4b5a60' as ClinicId,
    timezone: 'Europe/Istanbul',
    contact: {
      address: 'Moda Caddesi 112, 34710 Kadıköy, İstanbul',
      phoneNumber: '+902165550112',
      emailAddress: 'info@bosphorus-family.example.com',
      website: 'https://bosphorus-family.example.com/',
    },
    ...buildRecords(BOSPHORUS, {
      name: 'Bosphorus Family Clinic',
      currency: 'TRY',
      today,
      seed: 100,
      doctors: [
        {
          external_id: 'd1',
          full_name: 'Dr. Selin Arslan',
          specialty: 'Family medicine',
          department_external_id: 'gp',
          hours: 'mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00',
        },
        {
          external_id: 'd2',
          full_name: 'Dr. Emre Koç',
          specialty: 'Paediatrics',
          department_external_id: 'pd',
          hours: 'mon-thu 08:30-16:30',
          breaks: 'mon-thu 12:00-13:00',
        },
        {
          external_id: 'd3',
          full_name: 'Dr. Nazlı Uçar',
          specialty: 'Dermatology',
          department_external_id: 'de',
          hours: 'tue,thu 10:00-19:00',
          time_off: '2026-08-03/2026-08-14',
        },
        { external_id: 'd4', full_name: 'Dr. Ömer Taş', specialty: null, is_active: false },
      ],
      patients: patients(seeded(1), ISTANBUL, 500),
      offset: ISTANBUL.offset,
      bookedShare: 0.07,
      billedShare: 0.6,
      formerDoctorHours: { d4: 'mon-wed 09:00-13:00' },
      holidays: ['01-01', '04-23', '05-01', '05-19', '07-15', '08-30', '10-29'],
      appointmentMinutes: { '': [15, 30, 30], Paediatrics: [15, 30], Dermatology: [15, 30, 45] },
      prices: TRY_PRICES,
      greeting: 'Merhaba',
    }),
  },
  {
    id: 'c1a7d2b4-5e36-4f8b-8a19-6d0e7f213b84' as ClinicId,
    timezone: 'Asia/Kathmandu',
    contact: {
      address: 'Mangal Bazaar 7, Lalitpur 44700',
      phoneNumber: '+97715550107',
      emailAddress: 'info@patan-dental.example.com',
      website: 'https://patan-dental.example.com/',
    },
    ...buildRecords(PATAN, {
      name: 'Patan Dental Care',
      currency: 'NPR',
      today,
      seed: 200,
      doctors: [
        {
          external_id: 'd1',
          full_name: 'Dr. Anita Pradhan',
          specialty: 'Dentistry',
          department_external_id: 'd',
          hours: 'mon-fri 10:00-17:00; sun 10:00-17:00',
        },
        {
          external_id: 'd2',
          full_name: 'Dr. Rajan KC',
          specialty: 'Orthodontics',
          department_external_id: 'o',
          hours: 'sun 10:00-14:00; wed 12:00-18:00',
        },
      ],
      patients: patients(seeded(2), KATHMANDU, 40),
      offset: KATHMANDU.offset,
      bookedShare: 0.047,
      billedShare: 0.9,
      formerDoctorHours: {},
      holidays: ['01-11', '05-01', '09-20'],
      appointmentMinutes: { '': [30, 30, 45, 60], Orthodontics: [30, 45] },
      prices: NPR_PRICES,
      greeting: 'Namaste',
    }),
  },
]

function buildRecords(offer: ClinicOffer, practice: Practice) {
  const { name, currency, doctors, prices, today } = practice
  const appointments = appointmentsOf(practice)
  const bills = billsOf(practice, appointments)
  return {
    name,
    currency,
    ...catalogueOf({ ...offer, doctors, prices, currency, year: today.slice(0, 4) }),
    doctors,
    patients: practice.patients,
    appointments: appointments.map(({ row }) => row),
    invoices: bills.map(({ row }) => row),
    payments: paymentsOf(practice, bills),
    messages: messagesOf(practice, appointments, bills),
  }
}
