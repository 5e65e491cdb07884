/** Whose copied name or contacts are owed to other records, as a sort key of the clinic's list of such debts. */
export const patientOwner = (id: string): string => `patient#${id}`
export const doctorOwner = (id: string): string => `doctor#${id}`

export function ownerOf(owner: string): { kind: 'patient' | 'doctor'; id: string } {
  const [kind = '', id = ''] = owner.split('#')
  return { kind: kind === 'doctor' ? 'doctor' : 'patient', id }
}
