import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { Command } from 'commander'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { isUuid } from '../../shared/domain/uuid.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { CommandFailure, EXIT, type GlobalOptions } from './output.ts'

/** A stack's outputs and the client settings for its services. On AWS the settings are empty. */
type StackLocation = {
  readonly outputs: Readonly<Record<string, string>>
  readonly clientSettingsFor: (service: 'dynamodb' | 'sqs') => ClientSettings
}
type ClientSettings = {
  endpoint?: string
  region?: string
  credentials?: { accessKeyId: string; secretAccessKey: string }
}

/** Opens the stack's table, found by CloudFormation outputs on AWS and by the local runner's description locally. */
export async function connect(command: Command): Promise<Table> {
  const { outputs, clientSettingsFor: where } = await locateStack(command)
  return openTable(documentClient(where('dynamodb')), requireOutput(outputs, 'TableName'))
}

/** A client for the stack's queues, and their URLs by output name. */
export async function connectQueues(command: Command) {
  const { outputs, clientSettingsFor: where } = await locateStack(command)
  return { client: new SQSClient(where('sqs')), urlOf: (output: string) => requireOutput(outputs, output) }
}

function locateStack(command: Command): Promise<StackLocation> {
  const { stack, port } = command.optsWithGlobals<GlobalOptions>()
  return stack === undefined ? localStack(port) : deployedStack(stack)
}

function requireOutput(outputs: StackLocation['outputs'], name: string): string {
  const value = outputs[name]
  if (!value) throw new CommandFailure(`The stack has no output ${name}.`)
  return value
}

async function localStack(port: string): Promise<StackLocation> {
  const url = `http://127.0.0.1:${port}/_local`
  const local = (await fetch(url).then(
    (response) => (response.ok ? response.json() : null),
    () => null,
  )) as {
    region: string
    outputs: Record<string, string>
    endpoints: { dynamodb: string; sqs: string }
  } | null
  if (!local) {
    throw new CommandFailure(
      `No local stack is running on port ${port}. Start one with "npm start", or select a deployed one with --stack.`,
      EXIT.unreachable,
    )
  }
  const { region, outputs, endpoints } = local
  const credentials = { accessKeyId: 'operator', secretAccessKey: 'local' }
  return { outputs, clientSettingsFor: (service) => ({ endpoint: endpoints[service], region, credentials }) }
}

async function deployedStack(name: string): Promise<StackLocation> {
  const { Stacks } = await new CloudFormationClient()
    .send(new DescribeStacksCommand({ StackName: name }))
    .catch((error: Error) => {
      if (/does not exist/.test(error.message))
        throw new CommandFailure(`Stack ${name} does not exist in this account and region.`)
      throw error
    })
  const outputs = (Stacks?.[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue])
  return { outputs: Object.fromEntries(outputs), clientSettingsFor: () => ({}) }
}

/** The clinic with this id. @throws CommandFailure if there is none */
export async function requireClinic(table: Table, id: string): Promise<Clinic> {
  const clinic = isUuid(id) ? await clinicStore({ table }).find(id.toLowerCase() as ClinicId) : null
  if (!clinic) throw new CommandFailure(`Clinic ${id} does not exist. Run "clinic list" to see all clinics.`)
  return clinic
}
