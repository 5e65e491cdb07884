import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { Command } from 'commander'
import { moveClock } from '../../../infra/local/process/move-clock.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { ClinicBeingDeleted, clinicStore, type StoredClinic } from '../../../shared/store/clinics.ts'
import { openTable, type Table } from '../../../shared/store/table/table.ts'
import { describeMissingSettings, isAccessDenied } from './aws-errors.ts'
import { clinicSource, findClinic, namedClinic, unknownClinic } from './clinic-choice.ts'
import { nameOf, programOf, startTrail } from './command-trail.ts'
import { describeLocalStack } from './local-stack.ts'
import { operatorClient } from './operator-client.ts'
import { deployedOperatorLog, localOperatorLog, type OperatorLog } from './operator-log.ts'
import { CommandFailure, EXIT, type GlobalOptions, nameClinic } from './output.ts'
import { storeClock } from './store-clock.ts'
import { guardWrites, withWriteGuard } from './write-guard.ts'

/** A stack's outputs and the client settings for its services. On AWS the settings are empty. */
type StackLocation = {
  readonly outputs: Readonly<Record<string, string>>
  /** When the stack was last deployed with a change, as an ISO 8601 instant. Empty for a local stack. */
  readonly deployedAt: string
  readonly isLocal: boolean
  readonly clientSettingsFor: (service: 'dynamodb' | 'sqs') => ClientSettings
  readonly openOperatorLog: (logGroup: string) => Promise<OperatorLog>
}
type ClientSettings = {
  endpoint?: string
  region?: string
  credentials?: { accessKeyId: string; secretAccessKey: string }
}

/** Opens the stack's table, found by CloudFormation outputs on AWS and by the local runner's description locally. */
export async function connect(command: Command): Promise<Table> {
  const stack = await locateStack(command)
  return openTableOf(stack, requireOutput(stack.outputs, 'TableName'))
}

/** Opens another table than the stack's, such as a restored one. */
export async function connectTable(command: Command, name: string): Promise<Table> {
  return openTableOf(await locateStack(command), name)
}

/** Opens the local stack's table in another engine. @throws CommandFailure for a deployed stack */
export async function connectLocalTable(command: Command, start: () => Promise<string>): Promise<Table> {
  const stack = await locateStack(command)
  if (!stack.isLocal) throw new CommandFailure('--from-data is for the local stack.')
  const settings = { ...stack.clientSettingsFor('dynamodb'), endpoint: await start() }
  const name = requireOutput(stack.outputs, 'TableName')
  return openTableOf({ ...stack, clientSettingsFor: () => settings }, name)
}

/** The functions of a local stack have this machine's clock; functions on AWS have the store's clock. */
function openTableOf({ clientSettingsFor, isLocal }: StackLocation, name: string): Table {
  const client = operatorClient(clientSettingsFor('dynamodb'))
  const clock = isLocal ? {} : { now: storeClock(client) }
  return withWriteGuard(openTable(client, name, { ...clock, source: 'operator' }))
}

/** A client for the stack's table itself, and its name. */
export async function connectDynamoDb(command: Command) {
  const { outputs, clientSettingsFor: where } = await locateStack(command)
  return { client: operatorClient(where('dynamodb')), tableName: requireOutput(outputs, 'TableName') }
}

/** When the stack was last deployed with a change. */
export const deployedAt = async (command: Command): Promise<string> => (await locateStack(command)).deployedAt

/** A client for the stack's queues, and their URLs by output name. */
export async function connectQueues(command: Command) {
  const { outputs, clientSettingsFor: where } = await locateStack(command)
  return {
    client: new SQSClient({ useQueueUrlAsEndpoint: false, ...where('sqs') }),
    urlOf: (output: string) => requireOutput(outputs, output),
  }
}

/** The name that the stack puts into the keys that it issues. */
export async function cellOf(command: Command): Promise<string> {
  const { outputs } = await locateStack(command)
  return requireOutput(outputs, 'Cell')
}

/** The address of a deployed API. Its calls have lines of their own in the access trail. */
export const baseUrlOf = async (command: Command): Promise<string> =>
  requireOutput((await findStack(command)).outputs, 'BaseUrl')

/** By program: a program runs one command. */
const stacks = new WeakMap<Command, Promise<StackLocation>>()

function findStack(command: Command): Promise<StackLocation> {
  const program = programOf(command)
  const { stack, port } = command.optsWithGlobals<GlobalOptions>()
  const found = stacks.get(program) ?? (stack === undefined ? localStack(port) : deployedStack(stack))
  stacks.set(program, found)
  return found
}

/** Finds the stack, and writes the command's first line of its access trail before anything else is done. */
async function locateStack(command: Command, clinic?: ClinicId): Promise<StackLocation> {
  const location = await findStack(command)
  const logGroup = requireOutput(location.outputs, 'OperatorLogGroup')
  await startTrail(command, () => location.openOperatorLog(logGroup), clinic).catch((error: Error) => {
    if (isAccessDenied(error) || describeMissingSettings(error) !== null) throw error
    throw new CommandFailure(
      `The access trail cannot be written, so nothing was done: ${error.message}`,
      EXIT.unreachable,
    )
  })
  return location
}

/**
 * The id of the command's clinic. Its name is looked up before the first line of the access trail, which has the id. A name that
 * selects no clinic has a line without one.
 */
export async function chooseClinic(command: Command): Promise<ClinicId> {
  const text = namedClinic(command)
  const stack = await findStack(command)
  const table = openTableOf(stack, requireOutput(stack.outputs, 'TableName'))
  const id = await findClinic(table, text, clinicSource(command)).catch(async (error) => {
    await locateStack(command)
    throw error
  })
  await locateStack(command, id)
  return id
}

function requireOutput(outputs: StackLocation['outputs'], name: string): string {
  const value = outputs[name]
  if (!value) throw new CommandFailure(`The stack has no output ${name}.`)
  return value
}

async function localStack(port: string): Promise<StackLocation> {
  const { region, outputs, endpoints, clock_offset_ms } = await describeLocalStack(port)
  if (clock_offset_ms) moveClock(() => clock_offset_ms)
  const credentials = { accessKeyId: 'operator', secretAccessKey: 'local' }
  return {
    outputs,
    deployedAt: '',
    isLocal: true,
    clientSettingsFor: (service) => ({ endpoint: endpoints[service], region, credentials }),
    openOperatorLog: async (logGroup) => localOperatorLog(endpoints.logs, logGroup),
  }
}

async function deployedStack(name: string): Promise<StackLocation> {
  const client = new CloudFormationClient()
  const { Stacks } = await client
    .send(new DescribeStacksCommand({ StackName: name }))
    .catch((error: Error) => {
      if (/does not exist/.test(error.message))
        throw new CommandFailure(`Stack ${name} does not exist in this account and region.`)
      throw error
    })
  const { Outputs = [], CreationTime, LastUpdatedTime = CreationTime } = Stacks?.[0] ?? {}
  return {
    outputs: Object.fromEntries(Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue])),
    deployedAt: LastUpdatedTime?.toISOString() ?? '',
    isLocal: false,
    clientSettingsFor: () => ({}),
    openOperatorLog: deployedOperatorLog,
  }
}

/** The table and the clinic that a command concerns. */
export type ClinicContext = { readonly table: Table; readonly clinic: StoredClinic }

/**
 * Opens the table and the clinic of a command. From now on, a deletion or a restore of the clinic ends the writes to the table.
 * @param name the name of another table than the stack's, such as a restored one
 * @throws CommandFailure without a clinic, or for an unknown one; ClinicBeingDeleted
 */
export async function openClinic(command: Command, name?: string): Promise<ClinicContext> {
  const context = await openStoredClinic(command, name)
  const { table, clinic } = context
  guardWrites(table, clinic.id, nameOf(command))
  if (clinic.deletingAt !== undefined) throw new ClinicBeingDeleted(clinic.id, false)
  return context
}

/** Opens the table and the clinic of a command, even if the clinic is being deleted. @throws CommandFailure like {@link openClinic} */
export async function openStoredClinic(command: Command, name?: string): Promise<ClinicContext> {
  const id = await chooseClinic(command)
  const table = name === undefined ? await connect(command) : await connectTable(command, name)
  const clinic = await requireStoredClinic(table, id, clinicSource(command))
  nameClinic(command, clinic)
  return { table, clinic }
}

/** The clinic with this id, even if it is being deleted. @throws CommandFailure if there is none */
export async function requireStoredClinic(table: Table, id: ClinicId, source = ''): Promise<StoredClinic> {
  const clinic = await clinicStore({ table }).findListed(id)
  if (!clinic) throw unknownClinic(id, source)
  return clinic
}
