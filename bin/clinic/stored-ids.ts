import type { ClinicId } from '../../shared/domain/clinic.ts'
import { holidayStore, presentImports } from '../../shared/store/holidays.ts'
import { calendarPartition } from '../../shared/store/keys/calendar.ts'
import {
  departmentsPartition,
  priceListsPartition,
  roomsPartition,
  treatmentsPartition,
} from '../../shared/store/keys/catalogue.ts'
import { doctorsPartition } from '../../shared/store/keys/clinics.ts'
import { patientKey } from '../../shared/store/keys/patients.ts'
import type { Table } from '../../shared/store/table/table.ts'
import type { ListedId } from './import/external-ids.ts'
import { partitionPages } from './verify/partition-pages.ts'

/** Where the records of each importable entity are, except holidays, which are one item. */
const PARTITIONS: { readonly [entity: string]: (clinic: ClinicId) => string } = {
  departments: departmentsPartition,
  doctors: doctorsPartition,
  rooms: roomsPartition,
  treatments: treatmentsPartition,
  'price-lists': priceListsPartition,
  patients: (clinic) => patientKey(clinic, '').pk,
  appointments: (clinic) => calendarPartition(clinic, 'A'),
  invoices: (clinic) => calendarPartition(clinic, 'I'),
  payments: (clinic) => calendarPartition(clinic, 'Y'),
  messages: (clinic) => calendarPartition(clinic, 'M'),
}

/** The external ids of all imported records of some entities. A patient who was erased has none. */
export async function* storedIds(
  table: Table,
  clinic: ClinicId,
  entities: readonly string[],
): AsyncGenerator<ListedId> {
  for (const entity of entities) {
    if (entity === 'holidays') {
      const imports = presentImports(await holidayStore({ table }).read(clinic))
      for (const [id, { externalId }] of Object.entries(imports))
        if (externalId !== undefined) yield { entity, externalId, id }
      continue
    }
    const partition = PARTITIONS[entity]
    if (!partition) throw new Error(`no partition of ${entity}`)
    for await (const items of partitionPages(table, partition(clinic)))
      for (const { xi, sk } of items)
        if (typeof xi === 'string') yield { entity, externalId: xi, id: sk as string }
  }
}
