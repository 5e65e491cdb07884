/** How the tool reports errors: as text, or with `--json` as one JSON object on stderr. */
import { type Command, CommanderError } from 'commander'
import { StillFound, WalkTaken } from '../../../shared/maintenance/walk/walk.ts'
import { ClinicBeingDeleted } from '../../../shared/store/clinics.ts'
import { UnavailableError } from '../../../shared/store/table/errors.ts'
import { UnreadableRecord } from '../../../shared/store/table/unreadable-record.ts'
import { describeDenial, describeMissingSettings, isAccessDenied } from './aws-errors.ts'
import { CommandFailure, EXIT, NeedsAttention } from './output.ts'

/** The output of an error: an exit code, and a message unless everything is printed already. */
export function describeError(
  error: unknown,
  command: Command | undefined,
): { readonly code: number; readonly message?: string; readonly details?: object } {
  if (error instanceof CommanderError) return describeUsageError(error)
  if (error instanceof NeedsAttention) return { code: EXIT.needsAttention }
  if (error instanceof CommandFailure) {
    const { exitCode: code, message, details } = error
    return { code, message, details }
  }
  if (isAccessDenied(error)) return { code: EXIT.failed, message: describeDenial(command, error as Error) }
  if (error instanceof ClinicBeingDeleted) return { code: EXIT.wrongInput, message: describeDeletion(error) }
  if (error instanceof WalkTaken || error instanceof StillFound || error instanceof UnreadableRecord)
    return { code: EXIT.failed, message: error.message }
  const settings = describeMissingSettings(error)
  if (settings !== null) return { code: EXIT.wrongInput, message: settings }
  if (error instanceof UnavailableError)
    return {
      code: EXIT.unreachable,
      message:
        'The table cannot be reached, or is throttling. What was written stays; run the command again.',
    }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  // A file that cannot be read or written has a code and a path; anything else is a defect, or AWS saying no.
  return { code: error instanceof Error && 'path' in error ? EXIT.wrongInput : EXIT.failed, message }
}

const describeDeletion = ({ clinic, isDeleted }: ClinicBeingDeleted): string =>
  isDeleted
    ? `Clinic ${clinic} no longer exists: it was deleted.`
    : `Clinic ${clinic} is being deleted: repeat "clinic delete --clinic ${clinic}", which ends the deletion.`

function describeUsageError({ exitCode, code, message }: CommanderError): { code: number; message?: string } {
  if (exitCode === 0) return { code: EXIT.done }
  const isIncomplete = code === 'commander.help'
  return {
    code: EXIT.wrongInput,
    message: isIncomplete
      ? 'The command is incomplete: --help lists what can follow.'
      : message.replace(/^error: /, ''),
  }
}

/** Writes the message of an error. Commander has already written its errors as text. */
export function writeFailure(
  error: unknown,
  { code, message, details }: ReturnType<typeof describeError>,
  isJson: boolean,
  writeError: (text: string) => void,
): void {
  if (message === undefined) return
  if (isJson) writeError(`${JSON.stringify({ error: { message, exit_code: code, ...details } })}\n`)
  else if (!(error instanceof CommanderError)) writeError(`${message}\n`)
}
