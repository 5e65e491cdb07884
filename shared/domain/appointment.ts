export const APPOINTMENT_STATUSES = ['scheduled', 'completed', 'cancelled', 'no_show'] as const
export type AppointmentStatus = (typeof APPOINTMENT_STATUSES)[number]

/** Somebody as another record names them: copied, so that a list needs no further read. */
export type PersonReference = { readonly id: string; readonly fullName: string }

/** A visit of one patient to one doctor (spec section 2); it never spans midnight. */
export type Appointment = {
  readonly id: string
  readonly patient: PersonReference
  readonly doctor: PersonReference
  /** Clinic-local `Y-m-d`. */
  readonly date: string
  /** Clinic-local `HH:MM`. */
  readonly startTime: string
  readonly endTime: string
  readonly status: AppointmentStatus
  readonly notes: string | null
  /** ISO 8601 instant in UTC. */
  readonly createdAt: string
}

/** Whether the clinic may move an appointment from one status to another: only a scheduled one moves, once. */
export const canTransition = (from: AppointmentStatus, to: AppointmentStatus): boolean =>
  from === 'scheduled' && to !== from

/** Whether it takes its doctor's time: cancelled and missed ones free the slot. */
export const occupiesSlot = (status: AppointmentStatus): boolean =>
  status === 'scheduled' || status === 'completed'
