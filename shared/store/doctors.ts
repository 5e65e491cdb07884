import type { ClinicId } from '../domain/clinic.ts'
import type { Doctor } from '../domain/doctor.ts'
import { offsetOf, type Page, type PageRequest } from '../domain/paging.ts'
import { fold } from '../domain/search-text.ts'
import { doctorKey, doctorsPartition } from './keys.ts'
import type { Item, Table } from './table.ts'

/** A clinic has tens of doctors, seldom hundreds: its list is one partition, read whole and sorted in memory. */
const MOST_DOCTORS = 10_000

export function doctorStore({ table }: { table: Table }) {
  async function find(clinic: ClinicId, id: string): Promise<Doctor | null> {
    const item = await table.get(doctorKey(clinic, id))
    return item ? toDoctor(item) : null
  }

  async function findMany(clinic: ClinicId, ids: readonly string[]): Promise<Map<string, Doctor>> {
    const items = await table.getMany(ids.map((id) => doctorKey(clinic, id)))
    return new Map(items.map((item) => [item.sk, toDoctor(item)]))
  }

  /** By name as people sort it, then id. */
  async function list(clinic: ClinicId): Promise<Doctor[]> {
    const items = await table.query({ pk: doctorsPartition(clinic), limit: MOST_DOCTORS })
    const named = items.map(toDoctor).map((doctor) => ({ doctor, name: fold(doctor.fullName) }))
    named.sort((a, b) => order(a.name, b.name) || order(a.doctor.id, b.doctor.id))
    return named.map(({ doctor }) => doctor)
  }

  async function page(clinic: ClinicId, request: PageRequest): Promise<Page<Doctor>> {
    const doctors = await list(clinic)
    const offset = offsetOf(request)
    return { items: doctors.slice(offset, offset + request.limit), total: doctors.length }
  }

  /** Writes doctors whole, new or not; at most a transaction's worth. */
  async function save(clinic: ClinicId, doctors: readonly Doctor[]): Promise<void> {
    await table.transact(doctors.map((doctor) => table.putWrite(toItem(clinic, doctor))))
  }

  return { find, findMany, list, page, save }
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const toItem = (clinic: ClinicId, { id, ...doctor }: Doctor): Item => ({
  ...doctorKey(clinic, id),
  ...doctor,
})

function toDoctor(item: Item): Doctor {
  const { pk, sk, ...doctor } = item
  return { ...(doctor as unknown as Omit<Doctor, 'id'>), id: sk }
}
