import { styleText } from 'node:util'
import { Command } from 'commander'
import project from '../../package.json' with { type: 'json' }
import { OPERATIONS } from './api/operations.ts'
import { addClinicOption } from './tool/clinic-choice.ts'
import { endTrail } from './tool/command-trail.ts'
import { type Ask, allowInput } from './tool/confirmation.ts'
import { describeError, withoutSecrets, writeFailure } from './tool/error-output.ts'
import { EXIT } from './tool/output.ts'

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

/** A noun with the commands of its records, or a command without a noun. */
type Part = {
  readonly description: string
  /** Loads the modules of the part, and adds its commands or its options. */
  readonly define: (command: Command, env: Terminal['env']) => Promise<unknown>
}

const NOUNS: Readonly<Record<string, Part>> = {
  clinic: {
    description: 'clinics: settings, pauses, deletion',
    define: async (group) => (await import('./clinics/clinics.ts')).addClinicCommands(group),
  },
  doctor: {
    description: 'doctors: hours, external ids',
    define: async (group) =>
      (await import('./external-ids/record-links.ts')).addLinkCommands(group, 'doctor'),
  },
  credential: {
    description: 'credentials of integrations: secrets, scopes, revocation',
    define: async (group) => (await import('./credentials/credentials.ts')).addCredentialCommands(group),
  },
  patient: {
    description: 'patients: details, external ids, export, erasure',
    define: async (group) => (await import('./patients/patients.ts')).addPatientCommands(group),
  },
  erasure: {
    description: 'the ledger of erased patients, and erasing them again in a restored table',
    define: async (group) => (await import('./patients/erasures.ts')).addErasureCommands(group),
  },
  appointment: {
    description: 'appointments, and their external ids',
    define: async (group) =>
      (await import('./external-ids/record-links.ts')).addLinkCommands(group, 'appointment'),
  },
  invoice: {
    description: 'invoices: status, corrections',
    define: async (group) => (await import('./finance/invoices.ts')).addInvoiceCommands(group),
  },
  message: {
    description: 'messages, and those whose outcome is unknown',
    define: async (group) => (await import('./messages/messages.ts')).addMessageCommands(group),
  },
  'dead-letter': {
    description: 'messages of queues that could not be processed',
    define: async (group) => (await import('./dead-letters/dead-letters.ts')).addDeadLetterCommands(group),
  },
  webhook: {
    description: 'webhook endpoints, and receiving webhooks on this machine',
    define: async (group) => (await import('./webhooks/webhooks.ts')).addWebhookCommands(group),
  },
}

const OTHERS: Readonly<Record<string, Part>> = {
  api: {
    description: 'send any request to the API, e.g. api GET "/patients?limit=5"',
    define: async (command, env) => (await import('./api/commands.ts')).addApiCommand(command, env),
  },
  import: {
    description:
      "import a clinic's records; importing a file again changes nothing, and an interrupted import can be repeated",
    define: async (command) => (await import('./import/import.ts')).addImportCommand(command),
  },
  link: {
    description:
      'confirm the external ids that the API has set of all records of a file, after you have checked that its rows are about these records',
    define: async (command) => (await import('./external-ids/link-file.ts')).addLinkFileCommand(command),
  },
  export: {
    description: "write a clinic's records to files that can be imported",
    define: async (command) => (await import('./export/export.ts')).addExportCommand(command),
  },
  ids: {
    description:
      "list the ids in the clinic's own system with the ids of the records, as CSV: of all imported records, or of the rows of a file",
    define: async (command) => (await import('./export/export-ids.ts')).addIdsCommand(command),
  },
  verify: {
    description: "verify a clinic's lists, tallies and search against its records, while the API is running",
    define: async (command) => (await import('./verify/verify.ts')).addVerifyCommand(command),
  },
  restore: {
    description: 'restore the table (as a new one) or a single clinic to an earlier time',
    define: async (group) => (await import('./restore/restore.ts')).addRestoreCommands(group),
  },
  migrate: {
    description: "move the table's items to the newest format while the API is running; may be repeated",
    define: async (command) => (await import('./migrate/migrate.ts')).addMigrateCommand(command),
  },
}

/** The nouns of the API document, with the verbs of its operations. */
const GENERATED: Readonly<Record<string, Part>> = Object.fromEntries(
  Object.entries(Object.groupBy(OPERATIONS, ({ noun }) => noun)).map(([noun, list = []]) => [
    noun,
    { description: list.map(({ verb }) => verb).join(', '), define: async () => {} },
  ]),
)

const ALL_NOUNS: Readonly<Record<string, Part>> = { ...GENERATED, ...NOUNS }

const pluralOf = (noun: string): string => `${noun.replace(/([^aeiou])y$/, '$1ie')}s`

/** The program is named after its first noun: `clinic list` and `clinic clinic list` are the same command. */
const CLINIC_VERBS = ['list', 'show', 'current', 'create', 'update', 'delete', 'pause', 'resume']

/**
 * Runs one command of the operator tool.
 * @param args What follows the program's name on the command line.
 * @returns The exit code.
 */
export async function runOperatorTool(args: readonly string[], terminal: Terminal): Promise<number> {
  const isJson = args.includes('--json')
  const writeError = withoutSecrets(terminal.writeError)
  const words = withNoun(args)
  const program = await operatorTool({ ...terminal, writeError }, { isJson, words })
  let running: Command | undefined
  program.hook('preAction', (_, command) => {
    running = command
  })
  const code = await program.parseAsync(words, { from: 'user' }).then(
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

const isPart = (word: string): boolean => partsNamed([word]).length > 0

const partsNamed = (words: readonly string[]): string[] => [
  ...Object.keys(ALL_NOUNS).filter((noun) => words.includes(noun) || words.includes(pluralOf(noun))),
  ...Object.keys(OTHERS).filter((name) => words.includes(name)),
]

function withNoun(args: readonly string[]): string[] {
  const isValue = (at: number) => /^--(stack|port)$/.test(args[at - 1] ?? '')
  const at = args.findIndex((word, at) => !isValue(at) && (isPart(word) || CLINIC_VERBS.includes(word)))
  return isPart(args[at] ?? 'clinic') ? [...args] : args.toSpliced(at, 0, 'clinic')
}

/**
 * The program with its commands. With `isJson`, it leaves the reporting of wrong usage to its caller. With `words`, it has the
 * commands of the nouns among them alone.
 */
export async function operatorTool(
  { env, writeOut, writeError, ask, readInput }: Terminal,
  { isJson = false, words }: { readonly isJson?: boolean; readonly words?: readonly string[] } = {},
): Promise<Command> {
  const program = new Command('clinic')
    // Subcommands inherit it, so it comes before them.
    .configureOutput({
      writeOut,
      // Commander writes the help of an incomplete command there, too.
      writeErr: (text) => (isJson && /^(Usage|\nExit codes): /.test(text) ? undefined : writeError(text)),
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
    .version(project.version)
    .configureHelp({ showGlobalOptions: true, styleTitle: bold, styleSubcommandText: bold })
  allowInput(program, { ask, readInput })

  const parts = { ...ALL_NOUNS, ...OTHERS }
  const wanted = words === undefined ? Object.keys(parts) : partsNamed(words)
  for (const [name, part] of Object.entries(parts)) {
    const command = program.command(name).description(part.description)
    if (!(name in OTHERS)) command.alias(pluralOf(name))
    if (!wanted.includes(name)) continue
    await part.define(command, env)
    if (name in GENERATED) (await import('./api/commands.ts')).addOperations(command, name, env)
    for (const leaf of withSubcommands(command)) if (leaf.commands.length === 0) addClinicOption(leaf, env)
  }
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

/** Commander removes it where the output is not a terminal with colours. */
const bold = (text: string): string => styleText('bold', text, { validateStream: false })
