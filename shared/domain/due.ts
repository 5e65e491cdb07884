import type { ClinicId } from './clinic.ts'

/** A record that a sweep processes from `at` on, in milliseconds since the epoch. */
export type Due = { readonly clinic: ClinicId; readonly id: string; readonly at: number }
