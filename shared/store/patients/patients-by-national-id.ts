import type { ClinicId } from '../../domain/clinic.ts'
import { offsetOf, type Page, type PageRequest } from '../../domain/paging.ts'
import type { Patient } from '../../domain/patient.ts'
import type { Table } from '../table/table.ts'
import { nationalIds } from './national-ids.ts'
import { patientStore } from './patients.ts'

export function patientsByNationalId({ table }: { table: Table }) {
  const identified = nationalIds({ table })
  const patients = patientStore({ table })

  /** The patients who have exactly this national id, most recently created first. */
  async function page(clinic: ClinicId, nationalId: string, request: PageRequest): Promise<Page<Patient>> {
    const ordinals = await identified.find(clinic, nationalId)
    const offset = offsetOf(request)
    const shown = ordinals.slice(offset, offset + request.limit)
    return { items: await patients.findByOrdinals(clinic, shown), total: ordinals.length }
  }

  return { page }
}
