import type { Table } from '../store/table.ts'
import { doctorImport } from './doctors.ts'
import type { ImportEntity } from './entity.ts'
import { patientImport } from './patients.ts'

/** Every kind of file there is, in the order that lets later ones refer to earlier ones. */
export const importEntities = (table: Table, now: () => number): ImportEntity[] =>
  [doctorImport(table), patientImport(table, now)] as ImportEntity[]
