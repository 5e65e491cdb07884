import { Command } from 'commander'
import { appointments } from './appointments/appointment-records.ts'
import { addAppointmentCommands } from './appointments/appointments.ts'
import { addDepartmentCommands } from './catalogue/departments.ts'
import { addPriceListCommands } from './catalogue/price-lists.ts'
import { addRoomCommands } from './catalogue/rooms.ts'
import { addTreatmentCommands } from './catalogue/treatments.ts'
import { addClinicCommands } from './clinics/clinics.ts'
import { addCredentialCommands } from './credentials/credentials.ts'
import { addDeadLetterCommands } from './dead-letters/dead-letter-commands.ts'
import { addDoctorCommands } from './doctors/doctors.ts'
import { addExportCommand } from './export/export.ts'
import { addIdsCommand } from './export/export-ids.ts'
import { invoices } from './finance/invoice-records.ts'
import { addInvoiceCommands } from './finance/invoices.ts'
import { payments } from './finance/payment-records.ts'
import { addPaymentCommands } from './finance/payments.ts'
import { addGlobalFind } from './find.ts'
import { addImportCommand } from './import/import.ts'
import { messages } from './messages/message-records.ts'
import { addMessageCommands } from './messages/messages.ts'
import { addMigrateCommand } from './migrate/migrate.ts'
import { addAccessCommand } from './patients/access.ts'
import { addErasureCommands } from './patients/erasures.ts'
import { patients } from './patients/patient-records.ts'
import { addPatientCommands } from './patients/patients.ts'
import { addResourceFind } from './records/find-command.ts'
import { addListCommand } from './records/list-command.ts'
import type { ResourceCommands } from './records/resource-commands.ts'
import { addShowCommand } from './records/show-command.ts'
import { addRestoreCommands } from './restore/restore.ts'
import { endTrail } from './tool/command-trail.ts'
import { type Ask, allowInput, allowQuestions } from './tool/confirmation.ts'
import { describeError, withoutSecrets, writeFailure } from './tool/error-output.ts'
import { EXIT } from './tool/output.ts'
import { addVerifyCommand } from './verify/verify.ts'
import { addDeliveryList, webhooks } from './webhooks/webhook-records.ts'
import { addWebhookCommands } from './webhooks/webhooks.ts'

/** Where the tool runs: a terminal, or a test that captures its output. */
export type Terminal = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly writeOut: (text: string) => void
  readonly writeError: (text: string) => void
  /** Asks a question; present only if a person can respond. */
  readonly ask?: Ask | undefined
  /** Reads standard input to its end. */
  readonly readInput?: () => Promise<string>
}

/**
 * Runs one command of the operator tool.
 * @param args What follows the program's name on the command line.
 * @returns The exit code.
 */
export async function runOperatorTool(args: readonly string[], terminal: Terminal): Promise<number> {
  const isJson = args.includes('--json')
  const writeError = withoutSecrets(terminal.writeError)
  const program = operatorTool({ ...terminal, writeError }, isJson)
  let running: Command | undefined
  program.hook('preAction', (_, command) => {
    running = command
  })
  const code = await program.parseAsync(args, { from: 'user' }).then(
    () => EXIT.done,
    (error) => {
      const failure = describeError(error, running)
      writeFailure(error, failure, isJson, writeError)
      return failure.code
    },
  )
  try {
    await endTrail(program, code === EXIT.done || code === EXIT.needsAttention ? 'done' : 'failed')
    return code
  } catch (error) {
    const message = `The end of the command is not in the access trail: ${(error as Error).message}`
    writeFailure(error, { code: EXIT.failed, message }, isJson, writeError)
    return code === EXIT.done ? EXIT.failed : code
  }
}

/** The program with all its commands. With `isJson`, it leaves the reporting of wrong usage to its caller. */
export function operatorTool(
  { env, writeOut, writeError, ask, readInput }: Terminal,
  isJson = false,
): Command {
  const program = new Command('clinic')
    // Subcommands inherit it, so it comes before them.
    .configureOutput({
      writeOut,
      // Commander writes the usage of an incomplete command there, too.
      writeErr: (text) => (isJson && text.startsWith('Usage: ') ? undefined : writeError(text)),
      ...(isJson && { outputError: () => {} }),
    })
    .description(
      'Operates a clinic developer API: clinics, doctors, credentials, imports, changes of records.',
    )
    .option('--stack <name>', 'a stack deployed on AWS; without it, the local stack on --port')
    .option('--port <port>', 'where the local stack runs', env.PORT ?? '3000')
    .option('--json', 'print the result as one JSON object, and an error as one on stderr', false)
    .addHelpText(
      'after',
      `
Exit codes: 0 done, 1 done, but rows were rejected or differences remain, 2 wrong input or settings of the shell,
3 the stack cannot be reached (run it again), 4 failed, 130 stopped by Ctrl-C.`,
    )
    .configureHelp({ showGlobalOptions: true })
  if (ask) allowQuestions(program, ask)
  if (readInput) allowInput(program, readInput)

  addClinicCommands(program)
  addDepartmentCommands(program)
  addDoctorCommands(program)
  addRoomCommands(program)
  addTreatmentCommands(program)
  addPriceListCommands(program)
  addCredentialCommands(program)
  addImportCommand(program)
  addExportCommand(program)
  addGlobalFind(program)
  addIdsCommand(program)
  addPatientCommands(program)
  addErasureCommands(program)
  addAppointmentCommands(program)
  addInvoiceCommands(program)
  addPaymentCommands(program)
  addMessageCommands(program)
  addDeadLetterCommands(program)
  addWebhookCommands(program)
  addResources(program)
  addVerifyCommand(program)
  addAccessCommand(program)
  addRestoreCommands(program)
  addMigrateCommand(program)
  for (const command of withSubcommands(program)) {
    command.exitOverride()
    if (!isJson) command.showHelpAfterError('(--help shows how)')
  }
  return program
}

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
]

/** Adds the commands of all resources to their groups, which exist already. */
function addResources(program: Command): void {
  addResourceCommands(program, patients)
  addResourceCommands(program, appointments)
  addResourceCommands(program, invoices)
  addResourceCommands(program, payments)
  addResourceCommands(program, messages)
  addResourceCommands(program, webhooks)
  addDeliveryList(program)
}

/** Adds the commands of a resource to its group: `list`, `show` and `find`, with the filters of the API. */
function addResourceCommands<Wire extends { readonly id: string }>(
  program: Command,
  resource: ResourceCommands<Wire>,
): void {
  const group = program.commands.find((command) => command.name() === resource.group)
  if (!group) throw new RangeError(`the program has no group ${resource.group}`)
  const { list } = resource
  if (list) addListCommand(group.command('list'), `list a clinic's ${resource.plural}`, { ...resource, list })
  if (!resource.hasOwnShow) addShowCommand(group, resource)
  addResourceFind(group, resource)
}
