import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import type { Command } from 'commander'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { isUuid } from '../../shared/domain/uuid.ts'
import { documentClient } from '../../shared/runtime/clients.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { openTable, type Table } from '../../shared/store/table.ts'
import { CommandFailure, EXIT, type GlobalOptions } from './output.ts'

/** Finds the stack's table: by its outputs on AWS, by asking the runner locally. */
export async function connect(command: Command): Promise<Table> {
  const { stack, port } = command.optsWithGlobals<GlobalOptions>()
  return stack === undefined ? localTable(port) : deployedTable(stack)
}

async function localTable(port: string): Promise<Table> {
  const url = `http://127.0.0.1:${port}/_local`
  const local = (await fetch(url).then(
    (response) => (response.ok ? response.json() : null),
    () => null,
  )) as { region: string; outputs: { TableName: string }; endpoints: { dynamodb: string } } | null
  if (!local) {
    throw new CommandFailure(
      `No local stack answers on port ${port}. Start one with "npm start", or name a deployed one with --stack.`,
      EXIT.unreachable,
    )
  }
  const client = documentClient({
    endpoint: local.endpoints.dynamodb,
    region: local.region,
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  })
  return openTable(client, local.outputs.TableName)
}

async function deployedTable(stack: string): Promise<Table> {
  const { Stacks } = await new CloudFormationClient()
    .send(new DescribeStacksCommand({ StackName: stack }))
    .catch((error: Error) => {
      if (/does not exist/.test(error.message))
        throw new CommandFailure(`There is no stack ${stack} in this account and region.`)
      throw error
    })
  const name = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'TableName')?.OutputValue
  if (!name) throw new CommandFailure(`The stack ${stack} has no output TableName.`)
  return openTable(documentClient(), name)
}

/** The clinic that an option names. */
export async function requireClinic(table: Table, id: string): Promise<Clinic> {
  const clinic = isUuid(id) ? await clinicStore({ table }).find(id.toLowerCase() as ClinicId) : null
  if (!clinic) throw new CommandFailure(`There is no clinic ${id}; "clinic list" shows them.`)
  return clinic
}
