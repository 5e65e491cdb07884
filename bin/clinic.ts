/** The operator tool: `npm run clinic -- --help`. Works on a deployed stack and on a running local one alike. */
import { Command, CommanderError } from 'commander'
import { UnavailableError } from '../shared/store/table/errors.ts'
import { addAppointmentCommands } from './clinic/appointments.ts'
import { addClinicCommands } from './clinic/clinics.ts'
import { addCredentialCommands } from './clinic/credentials.ts'
import { addDoctorCommands } from './clinic/doctors.ts'
import { ImportFileError } from './clinic/import/rows.ts'
import { addImportCommand } from './clinic/import.ts'
import { addInvoiceCommands } from './clinic/invoices.ts'
import { addMessageCommands } from './clinic/messages.ts'
import { CommandFailure, EXIT } from './clinic/output.ts'
import { addPatientCommands } from './clinic/patients.ts'
import { addPaymentCommands } from './clinic/payments.ts'
import { addVerifyCommand } from './clinic/verify.ts'
import { addWebhookCommands } from './clinic/webhooks.ts'

const program = new Command('clinic')
  .description('Operates a clinic developer API: clinics, doctors, credentials, imports, changes of records.')
  .option('--stack <name>', 'a stack deployed on AWS; without it, the local stack on --port')
  .option('--port <port>', 'where the local stack runs', process.env.PORT ?? '3000')
  .option('--json', 'print the result as one JSON object', false)
  .addHelpText(
    'after',
    `
Exit codes: 0 done, 1 done, but rows were rejected or differences remain, 2 wrong input, 3 the stack cannot be
reached (run it again), 4 failed.`,
  )
  .configureHelp({ showGlobalOptions: true })

addClinicCommands(program)
addDoctorCommands(program)
addCredentialCommands(program)
addImportCommand(program)
addPatientCommands(program)
addAppointmentCommands(program)
addInvoiceCommands(program)
addPaymentCommands(program)
addMessageCommands(program)
addWebhookCommands(program)
addVerifyCommand(program)
for (const command of [program, ...program.commands.flatMap((group) => [group, ...group.commands])]) {
  command.exitOverride().showHelpAfterError('(--help shows how)')
}

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

function report(error: unknown): number {
  // Commander has printed its own message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongInput
  const printError = (text: string) => process.stderr.write(`${text}\n`)
  if (error instanceof CommandFailure) {
    printError(error.message)
    return error.exitCode
  }
  if (error instanceof ImportFileError) {
    printError(error.message)
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
