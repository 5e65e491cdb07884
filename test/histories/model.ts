/** The model of a history's clinics: plain maps, written by operations, compared with the API at the end. */
import { Register } from './register.ts'

/** `certain` must exist, `possible` may exist once, `none` must not exist. */
export type Existence = 'certain' | 'possible' | 'none'

export type PatientModel = {
  /** The last name that the patient was created with; no other patient has it. */
  readonly token: string
  /** Whether the clinic began with it, before there were events. */
  readonly isFirst: boolean
  id: string | null
  existence: Existence
  readonly lastName: Register<string>
  erasure: Existence
  /** Whether it has had a phone number and an email address from the beginning. */
  readonly phone: string | null
  readonly email: string | null
}

/** When, with whom and where an appointment takes place. */
export type Placement = {
  readonly doctor: string
  readonly room: string | null
  readonly date: string
  readonly from: number
  readonly to: number
}

export type BookingModel = {
  /** Its notes. */
  readonly token: string
  readonly patient: PatientModel
  readonly placement: Register<Placement>
  /** Every placement that was ever requested for it. */
  readonly placements: Placement[]
  readonly start: number
  id: string | null
  existence: Existence
  readonly status: Register<string>
  /** When a cancellation was confirmed. */
  freedAt: number
}

export type HoldModel = {
  readonly token: string
  readonly placement: Placement
  readonly start: number
  id: string | null
  existence: Existence
  /** Milliseconds since the epoch, by the clock of the history. */
  expiresAt: number
  /** Requests that may have ended it, and when it was certainly over. */
  endings: number
  endedBy: number
}

export type InvoiceModel = {
  /** Its number; of one that a request has created, the description of its line item. */
  readonly token: string
  readonly patient: PatientModel
  id: string | null
  existence: Existence
}

export type PaymentModel = {
  readonly id: string
  /** Its description. */
  readonly token: string
  readonly invoice: InvoiceModel
  readonly amount: number
  existence: Existence
  voiding: Existence
}

export type MessageModel = {
  /** Its text. */
  readonly token: string
  readonly channel: 'sms' | 'email'
  readonly patient: PatientModel
  id: string | null
  existence: Existence
  /** Whether a response said that the provider has it. */
  isReportedSent: boolean
  /** The reports of its provider: those that were recorded, and those that may have been. */
  readonly feedback: { readonly certain: Set<FeedbackKind>; readonly possible: Set<FeedbackKind> }
}

export type FeedbackKind = 'delivered' | 'failed'

export type WebhookModel = {
  readonly token: string
  readonly url: string
  id: string | null
  existence: Existence
  /** When its creation was confirmed. */
  confirmedAt: number
  readonly description: Register<string>
  readonly secret: Register<string>
  deletion: Existence
  /** Requests that tried to delete it. */
  deletions: number
  /** When the deletion was attempted first. */
  deletionStart: number
  pings: { certain: Set<string>; possible: number }
}

/** A part of a day in which a doctor cannot be booked. */
export type BlockModel = Omit<Placement, 'room'> & {
  id: string | null
  existence: Existence
  /** When its removal began, and when it was certainly over. */
  removedFrom: number
  removedBy: number
}

export type ClinicModel = {
  readonly index: 0 | 1
  readonly id: string
  readonly authorization: string
  /** Ends every text of the clinic's records: no other clinic of the table has such texts. */
  readonly suffix: string
  /** A phone number for each operation. */
  readonly phone: (operation: number) => string
  readonly rooms: readonly string[]
  readonly doctors: { readonly id: string; readonly name: Register<string> }[]
  readonly name: Register<string>
  readonly duration: Register<number>
  readonly patients: PatientModel[]
  readonly bookings: BookingModel[]
  readonly holds: HoldModel[]
  readonly blocks: BlockModel[]
  /** Ids of holidays that were created. */
  readonly holidays: string[]
  readonly invoices: InvoiceModel[]
  readonly payments: PaymentModel[]
  readonly messages: MessageModel[]
  readonly webhooks: WebhookModel[]
}

export const emptyClinicModel = (
  facts: Pick<
    ClinicModel,
    'index' | 'id' | 'authorization' | 'suffix' | 'phone' | 'rooms' | 'doctors' | 'patients' | 'invoices'
  >,
): ClinicModel => ({
  ...facts,
  name: new Register(`Clinic ${facts.index}`),
  duration: new Register(30),
  bookings: [],
  holds: [],
  blocks: [],
  holidays: [],
  payments: [],
  messages: [],
  webhooks: [],
})

/** Records that certainly exist and whose id is known. */
export const identified = <T extends { id: string | null; existence: Existence }>(
  records: readonly T[],
): (T & { id: string })[] =>
  records.filter(({ id, existence }) => id !== null && existence === 'certain') as (T & { id: string })[]

export const isErased = ({ erasure }: PatientModel): boolean => erasure !== 'none'
