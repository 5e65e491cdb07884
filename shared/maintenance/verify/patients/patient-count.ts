import { isUuid } from '../../../domain/uuid.ts'
import {
  patientChangesPartition,
  patientHeadKey,
  patientKey,
  patientListPartition,
} from '../../../store/keys/patients.ts'
import { EMPTY_HEAD, patientHeadItem } from '../../../store/patients/head.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { holdsPatient, isOrdinal } from '../comparison/patient-image.ts'
import { ifUnchanged } from '../comparison/snapshot.ts'

/** Rows read from the end, to find the last one that counts. */
const LAST_ROWS = 20

/** The attributes of the head that writers and snapshots change. */
const CHANGED = ['n', 'u', 'v']

type Counts = { readonly n: number; readonly u: number }

/** Verifies the head's counts of patients and updates. */
export function patientCountChecker({ table, clinic, examine }: Inspection) {
  const key = patientHeadKey(clinic)

  /**
   * The counts that follow from the items: the last row whose record confirms it, or that holds a patient whose record is missing, and the
   * last update in the log.
   */
  async function countItems(): Promise<Counts> {
    const [rows, changes] = await Promise.all([
      table.query({ pk: patientListPartition(clinic), descending: true, limit: LAST_ROWS }),
      table.query({ pk: patientChangesPartition(clinic), descending: true, limit: 1 }),
    ])
    const ids = new Set(rows.map(({ i }) => String(i)).filter(isUuid))
    const items = await table.getMany([...ids].map((id) => patientKey(clinic, id)))
    const records = new Map(items.map((item) => [item.sk, item]))
    const last = rows.find((row) => {
      const record = records.get(String(row.i))
      return record ? record.o === Number(row.sk) : isOrdinal(Number(row.sk)) && holdsPatient(row)
    })
    return { n: last ? Number(last.sk) + 1 : 0, u: countOr(Number(changes[0]?.sk), 0) }
  }

  /** A head read after the items counts all of them. Verified before records get positions. */
  async function recheckMin(): Promise<Finding | null> {
    const minimum = await countItems()
    const head = await table.get(key)
    const n = Math.max(minimum.n, countOr(head?.n, 0))
    const u = Math.max(minimum.u, countOr(head?.u, 0), countOr(head?.su, 0))
    return finding(head, { n, u })
  }

  /**
   * A head read before the items counts no other patients; `highest` is the last position in any record. The count of
   * updates is never lowered: an index in a function's memory would mistake the next update for one that it has.
   */
  async function recheckMax(highest: number): Promise<Finding | null> {
    const head = await table.get(key)
    const maximum = await countItems()
    if (!isHead(head)) return null
    return finding(head, { n: Math.min(head.n, Math.max(maximum.n, highest + 1)), u: head.u })
  }

  function finding(head: Item | undefined, { n, u }: Counts): Finding | null {
    const wrong = [
      ...(head?.n === n ? [] : [`n is ${head?.n}, not ${n}`]),
      ...(head?.u === u ? [] : [`u is ${head?.u}, not ${u}`]),
    ]
    if (isHead(head) && wrong.length === 0) return null
    // A head without segments: search reads the rows until the next snapshot.
    const known = isHead(head)
      ? head
      : patientHeadItem(clinic, {
          ...EMPTY_HEAD,
          indexedUpdates: u,
          deletedUpdates: u,
          snapshots: countOr(head?.v, 0) + 1,
        })
    const unreadable = head ? 'the head is unreadable' : 'the head is missing'
    const note = isHead(head) ? wrong.join('; ') : unreadable
    const read = Object.fromEntries(CHANGED.map((name) => [name, head?.[name]]))
    const repair = () => table.transact([ifUnchanged(table.putWrite({ ...known, ...key, n, u }), read)])
    return findingOf('patient_head_wrong', key, repair, note)
  }

  /** Whether stores can read the head; a missing one counts nothing. */
  async function isReadable(): Promise<boolean> {
    const head = await table.get(key)
    return head === undefined || isHead(head)
  }

  return {
    checkMin: () => examine(recheckMin),
    isReadable,
    checkMax: (highest: number) => examine(() => recheckMax(highest)),
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const countOr = (value: unknown, otherwise: number): number => (isCount(value) ? value : otherwise)

/** Whether the head has the attributes that stores need, right or wrong. */
const isHead = (head: Item | undefined): head is Item & Counts =>
  head !== undefined &&
  ['n', 'u', 'sn', 'su', 'lf', 'v'].every((name) => isCount(head[name])) &&
  Array.isArray(head.sv) &&
  head.sv.every(isCount)
