import { Command, CommanderError } from 'commander'
import { UnavailableError } from '../../shared/store/table/errors.ts'
import { addAccessCommand } from './access.ts'
import { describeDenial, isAccessDenied } from './access-denied.ts'
import { addAppointmentCommands } from './appointments.ts'
import { describeMissingSettings } from './aws-settings.ts'
import { addClinicCommands } from './clinics.ts'
import { endTrail } from './command-trail.ts'
import { type Ask, allowQuestions } from './confirmation.ts'
import { addCredentialCommands } from './credentials.ts'
import { addDepartmentCommands } from './departments.ts'
import { addDoctorCommands } from './doctors.ts'
import { addErasureCommands } from './erasures.ts'
import { addFindCommand } from './find.ts'
import { addIdsCommand } from './ids.ts'
import { ImportFileError } from './import/import-file-error.ts'
import { addImportCommand } from './import.ts'
import { addInvoiceCommands } from './invoices.ts'
import { addMessageCommands } from './messages.ts'
import { addMigrateCommand } from './migrate.ts'
import { CommandFailure, EXIT, NeedsAttention } from './output.ts'
import { addPatientCommands } from './patients.ts'
import { addPaymentCommands } from './payments.ts'
import { addPriceListCommands } from './price-lists.ts'
import { addRestoreCommands } from './restore.ts'
import { addRoomCommands } from './rooms.ts'
import { addTreatmentCommands } from './treatments.ts'
import { addVerifyCommand } from './verify.ts'
import { addWebhookCommands } from './webhooks.ts'

/** Where the tool runs: a terminal, or a test that captures its output. */
export type Terminal = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly writeOut: (text: string) => void
  readonly writeError: (text: string) => void
  /** Only where a person can answer. */
  readonly ask?: Ask | undefined
}

/**
 * Runs one command of the operator tool.
 * @param args What follows the program's name on the command line.
 * @returns The exit code.
 */
export async function runOperatorTool(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = operatorTool(terminal)
  let running: Command | undefined
  program.hook('preAction', (_, command) => {
    running = command
  })
  const code = await program.parseAsync(args, { from: 'user' }).then(
    () => EXIT.done,
    (error) => report(error, terminal.writeError, running),
  )
  try {
    await endTrail(program, code === EXIT.done || code === EXIT.needsAttention ? 'done' : 'failed')
    return code
  } catch (error) {
    terminal.writeError(`The end of the command is not in the access trail: ${(error as Error).message}\n`)
    return code === EXIT.done ? EXIT.failed : code
  }
}

/** The program with all its commands. */
export function operatorTool({ env, writeOut, writeError, ask }: Terminal): Command {
  const program = new Command('clinic')
    // Subcommands inherit it, so it comes before them.
    .configureOutput({ writeOut, writeErr: writeError })
    .description(
      'Operates a clinic developer API: clinics, doctors, credentials, imports, changes of records.',
    )
    .option('--stack <name>', 'a stack deployed on AWS; without it, the local stack on --port')
    .option('--port <port>', 'where the local stack runs', env.PORT ?? '3000')
    .option('--json', 'print the result as one JSON object', false)
    .addHelpText(
      'after',
      `
Exit codes: 0 done, 1 done, but rows were rejected or differences remain, 2 wrong input or settings of the shell,
3 the stack cannot be reached (run it again), 4 failed.`,
    )
    .configureHelp({ showGlobalOptions: true })
  if (ask) allowQuestions(program, ask)

  addClinicCommands(program)
  addDepartmentCommands(program)
  addDoctorCommands(program)
  addRoomCommands(program)
  addTreatmentCommands(program)
  addPriceListCommands(program)
  addCredentialCommands(program)
  addImportCommand(program)
  addFindCommand(program)
  addIdsCommand(program)
  addPatientCommands(program)
  addErasureCommands(program)
  addAppointmentCommands(program)
  addInvoiceCommands(program)
  addPaymentCommands(program)
  addMessageCommands(program)
  addWebhookCommands(program)
  addVerifyCommand(program)
  addAccessCommand(program)
  addRestoreCommands(program)
  addMigrateCommand(program)
  for (const command of [program, ...program.commands.flatMap((group) => [group, ...group.commands])]) {
    command.exitOverride().showHelpAfterError('(--help shows how)')
  }
  return program
}

function report(error: unknown, writeError: Terminal['writeError'], command: Command | undefined): number {
  // Commander has printed its own message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongInput
  if (error instanceof NeedsAttention) return EXIT.needsAttention
  const printError = (text: string) => writeError(`${text}\n`)
  if (error instanceof CommandFailure) {
    printError(error.message)
    return error.exitCode
  }
  if (isAccessDenied(error)) {
    printError(describeDenial(command, error as Error))
    return EXIT.failed
  }
  if (error instanceof ImportFileError) {
    printError(error.message)
    return EXIT.wrongInput
  }
  const settings = describeMissingSettings(error)
  if (settings !== null) {
    printError(settings)
    return EXIT.wrongInput
  }
  if (error instanceof UnavailableError) {
    printError(
      'The table cannot be reached, or is throttling. What was written stays; run the command again.',
    )
    return EXIT.unreachable
  }
  printError(error instanceof Error ? `${error.name}: ${error.message}` : String(error))
  // A file that cannot be read or written has a code and a path; anything else is a defect, or AWS saying no.
  return error instanceof Error && 'path' in error ? EXIT.wrongInput : EXIT.failed
}
