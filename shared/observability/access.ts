/** The access trail: who read or changed which records. Its lines are the only ones that contain ids of records. */
import { logToStdout } from './log.ts'

/** The `type` of a line of the trail. Subscription filters select lines by it. */
export const ACCESS_TYPE = 'access'

/** The stream that the operator tool writes to, in its log group. */
export const OPERATOR_LOG_STREAM = 'operator'

type AccessLine = {
  /** ISO 8601. */
  readonly timestamp: string
  readonly request_id: string
  readonly clinic_id: string | null
  /** Ids of the records that were read, changed or asked for; never their contents. */
  readonly records: readonly string[]
}

/** One request to the API. */
export type RequestAccess = AccessLine & {
  /** The key of the credential; null if the request had no valid one. */
  readonly credential: string | null
  readonly route: string
  /** `read` for a request that changed nothing: a GET, a PATCH or action without effect, or a repetition. */
  readonly access: 'read' | 'write'
  readonly source_ip: string | null
  /** The status of the response. */
  readonly outcome: number
}

/** One command of the operator tool. It has two lines: before its first call, and at its end. */
export type CommandAccess = AccessLine & {
  /** The caller's ARN on AWS, `local` on a local stack. */
  readonly operator: string
  /** The command without arguments, which can be contents. */
  readonly command: string
  readonly outcome: 'started' | 'done' | 'failed'
}

export type WriteAccess = (access: RequestAccess) => void

/** Keeps a line far below the size limit of log events. */
const MAX_RECORDS_PER_LINE = 1000

/** The lines of one access: one, unless it has very many records. */
export function accessLines({ records, ...access }: RequestAccess | CommandAccess): object[] {
  const lines: object[] = []
  for (let at = 0; at === 0 || at < records.length; at += MAX_RECORDS_PER_LINE) {
    const part = records.slice(at, at + MAX_RECORDS_PER_LINE)
    lines.push({ type: ACCESS_TYPE, level: 'info', ...access, records: part })
  }
  return lines
}

export const accessToStdout: WriteAccess = (access) => {
  for (const line of accessLines(access)) logToStdout(line as Record<string, unknown>)
}

const ID_FIELDS = new Set(['id', 'patient_id', 'delivery_id', 'time_off_id', 'key'])
/** Line items are parts of their invoice. */
const PARTS = new Set(['line_items'])
/** Records, events and credentials. Any other text is not written, whatever its field. */
const ID = /^(?:(?:evt_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ck_[\w-]{1,64})$/i

/** Whether a text has the form of an id of a record. */
export const isRecordId = (text: string): boolean => ID.test(text)

/** The ids of the records in requests and responses, and of the patients that they concern. */
export function recordIds(...values: readonly unknown[]): string[] {
  const ids = new Set<string>()
  const open = [...values]
  // Without recursion: a request may nest values as deep as its size allows.
  for (const value of open) {
    if (typeof value !== 'object' || value === null) continue
    for (const [field, part] of Object.entries(value)) {
      if (typeof part === 'object') {
        if (!PARTS.has(field)) open.push(part)
      } else if (typeof part === 'string' && ID_FIELDS.has(field) && ID.test(part)) ids.add(part)
    }
  }
  return [...ids]
}
