import type { ClinicId } from '../../domain/clinic.ts'
import { offsetOf, type PageRequest } from '../../domain/paging.ts'
import type { Patient } from '../../domain/patient.ts'
import type { Stamped } from '../../domain/stamped.ts'
import type { Walk, WalkablePage } from '../../domain/walk.ts'
import type { Table } from '../table/table.ts'
import { nationalIds } from './national-ids.ts'
import { patientStore, positionAfter } from './patients.ts'

/** Lists the patients who have exactly one national id, most recently created first. */
export function patientsByNationalId({ table }: { table: Table }) {
  const identified = nationalIds({ table })
  const patients = patientStore({ table })

  async function page(
    clinic: ClinicId,
    nationalId: string,
    request: PageRequest,
  ): Promise<WalkablePage<Stamped<Patient>>> {
    const ordinals = await identified.find(clinic, nationalId)
    return { ...(await part(clinic, ordinals, offsetOf(request), request.limit)), total: ordinals.length }
  }

  /** At most `limit` of them who were created before the one at this position. */
  async function after(
    clinic: ClinicId,
    nationalId: string,
    position: string,
    limit: number,
  ): Promise<Walk<Stamped<Patient>>> {
    const ordinals = await identified.find(clinic, nationalId)
    return part(
      clinic,
      ordinals.filter((ordinal) => ordinal < Number(position)),
      0,
      limit,
    )
  }

  async function part(clinic: ClinicId, ordinals: readonly number[], offset: number, limit: number) {
    const shown = ordinals.slice(offset, offset + limit)
    const next = offset + limit < ordinals.length ? positionAfter(shown) : null
    return { items: await patients.findByOrdinals(clinic, shown), next }
  }

  return { page, after }
}
