import type { Command } from 'commander'
import type { Erasure } from '../../shared/store/copies/erasure-ledger.ts'
import { confirmByTyping } from './confirmation.ts'

/** What is typed to erase many patients. */
export const PATIENT_COUNT = 'the number of patients that are listed for the clinic'

/** Asks for the number of patients that a replay has listed. @throws CommandFailure without it */
export async function confirmReplay(
  command: Command,
  listed: readonly Erasure[],
  pending: readonly Erasure[],
): Promise<void> {
  if (pending.length === 0) return
  const count = patientsOf(listed)
  await confirmByTyping(command, {
    what: PATIENT_COUNT,
    text: String(count),
    consequences: [
      `${count} patients are listed; ${patientsOf(pending)} of them are erased permanently, and their upcoming visits cancelled.`,
    ],
  })
}

const patientsOf = (erasures: readonly Erasure[]): number =>
  new Set(erasures.map(({ patient }) => patient)).size
