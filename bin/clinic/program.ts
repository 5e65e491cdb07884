import { styleText } from 'node:util'
import { Command, CommanderError } from 'commander'
import project from '../../package.json' with { type: 'json' }
import { COMMANDS } from '../../shared/operator/commands.ts'
import { OPERATIONS } from './api/operations.ts'
import { addClinicOption } from './tool/clinic-option.ts'
import { endTrail } from './tool/command-trail.ts'
import { type Ask, allowInput } from './tool/confirmation.ts'
import { CommandFailure, EXIT, withoutSecrets } from './tool/output.ts'

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

type Define = (command: Command, env: Terminal['env']) => Promise<unknown>

/** A noun with the commands of its records, or a command without a noun. */
type Part = {
  readonly description: string
  /** Loads the modules of the part, and adds its commands or its options. */
  readonly define: Define
}

/** The nouns of commands that need access to AWS. Those of the API are added. */
const NOUNS: Readonly<Record<string, Define>> = {
  clinic: async (group) => (await import('./clinics/clinics.ts')).addClinicCommands(group),
  doctor: async (group) => (await import('./external-ids/record-links.ts')).addLinkCommands(group, 'doctor'),
  credential: async (group) => (await import('./credentials/credentials.ts')).addCredentialCommands(group),
  patient: async (group) => (await import('./patients/patients.ts')).addPatientCommands(group),
  erasure: async (group) => (await import('./patients/erasures.ts')).addErasureCommands(group),
  appointment: async (group) =>
    (await import('./external-ids/record-links.ts')).addLinkCommands(group, 'appointment'),
  invoice: async (group) => (await import('./finance/invoices.ts')).addInvoiceCommands(group),
  message: async (group) => (await import('./messages/messages.ts')).addMessageCommands(group),
  'dead-letter': async (group) =>
    (await import('./dead-letters/dead-letters.ts')).addDeadLetterCommands(group),
}

const OTHERS: Readonly<Record<string, Part>> = {
  api: {
    description: 'send any request to the API, e.g. api GET "/patients?limit=5"',
    define: async (command, env) => (await import('./api/commands.ts')).addApiCommand(command, env),
  },
  import: {
    description: "import files of a clinic's records; may be repeated",
    define: async (command) => (await import('./import/import.ts')).addImportCommand(command),
  },
  link: {
    description: 'confirm the external ids of a file that the API has set',
    define: async (command) => (await import('./external-ids/link-file.ts')).addLinkFileCommand(command),
  },
  export: {
    description: "write a clinic's records to files that can be imported",
    define: async (command) => (await import('./export/export.ts')).addExportCommand(command),
  },
  ids: {
    description: "list the clinic's own ids with ids of records, as CSV",
    define: async (command) => (await import('./export/export-ids.ts')).addIdsCommand(command),
  },
  verify: {
    description: "compare a clinic's lists, tallies and search with its records",
    define: async (command) => (await import('./verify/verify.ts')).addVerifyCommand(command),
  },
  restore: {
    description: 'restore the table, or a single clinic, to an earlier time',
    define: async (group) => (await import('./restore/restore.ts')).addRestoreCommands(group),
  },
  migrate: {
    description: "move the table's items to the newest format; may be repeated",
    define: async (command) => (await import('./migrate/migrate.ts')).addMigrateCommand(command),
  },
}

const verbsOf = (noun: string): string[] => [
  ...OPERATIONS.filter((operation) => operation.noun === noun).map(({ verb }) => verb),
  ...Object.keys(COMMANDS).flatMap((name) =>
    name.startsWith(`${noun} `) ? [name.slice(noun.length + 1)] : [],
  ),
]

const ALL_NOUNS: Readonly<Record<string, Part>> = Object.fromEntries(
  [...new Set([...OPERATIONS.map(({ noun }) => noun), ...Object.keys(NOUNS)])].map((noun) => {
    const verbs = new Set(verbsOf(noun).filter((verb) => !verb.includes('--')))
    return [
      noun,
      { description: [...verbs].join(', '), define: async (group, env) => NOUNS[noun]?.(group, env) },
    ]
  }),
)

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
  const fail = async (error: unknown): Promise<number> => {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    const { describeError, writeFailure } = await import('./tool/error-output.ts')
    const failure = describeError(error, running)
    writeFailure(error, failure, isJson, writeError)
    return failure.code
  }
  const code = await program.parseAsync(words, { from: 'user' }).then(() => EXIT.done, fail)
  try {
    await endTrail(program, code === EXIT.done || code === EXIT.needsAttention ? 'done' : 'failed')
    return code
  } catch (error) {
    const { message } = error as Error
    const failed = await fail(
      new CommandFailure(`The end of the command is not in the access trail: ${message}`, EXIT.failed),
    )
    return code === EXIT.done ? failed : code
  }
}

const partNamed = (word: string): string | undefined =>
  [...Object.keys(ALL_NOUNS), ...Object.keys(OTHERS)].find(
    (name) => word === name || (name in ALL_NOUNS && word === pluralOf(name)),
  )

/** The words with the noun of the command, which may be a plural. */
function withNoun(args: readonly string[]): string[] {
  const isValue = (at: number) => /^--(stack|port)$/.test(args[at - 1] ?? '')
  const at = args.findIndex(
    (word, at) => !isValue(at) && (partNamed(word) !== undefined || CLINIC_VERBS.includes(word)),
  )
  if (at < 0) return [...args]
  const part = partNamed(args[at] ?? '')
  return part === undefined ? args.toSpliced(at, 0, 'clinic') : args.with(at, part)
}

/** Whether the words name a command of the API, so that no module with access to AWS is needed. */
const isOperation = (words: readonly string[] | undefined, noun: string): boolean => {
  const verb = words?.[words.indexOf(noun) + 1] ?? ''
  return OPERATIONS.some((one) => one.noun === noun && one.verb === verb) && !(`${noun} ${verb}` in COMMANDS)
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
    .description('Operates a clinic developer API.')
    .option('--stack <name>', 'a stack on AWS; without it, the local stack')
    .option('--port <port>', 'where the local stack runs', env.PORT ?? '3000')
    .option('--json', 'print the result, or an error on stderr, as one JSON object')
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
  for (const [name, part] of Object.entries(parts)) {
    const command = program.command(name)
    if (name in OTHERS) command.description(part.description)
    else command.summary(part.description)
    if (words && !words.includes(name)) continue
    if (!isOperation(words, name)) await part.define(command, env)
    if (OPERATIONS.some(({ noun }) => noun === name))
      (await import('./api/commands.ts')).addOperations(command, name, env)
    for (const leaf of withSubcommands(command)) if (leaf.commands.length === 0) addClinicOption(leaf, env)
  }
  for (const command of withSubcommands(program)) {
    command.exitOverride().helpCommand(false)
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
