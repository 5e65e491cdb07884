/** Checks the grants of functions against the calls that they make in this process. */
import { expect } from 'vitest'
import { SHARED_PARTITION_PREFIXES } from '../../../infra/functions/grants.ts'
import {
  CLINIC_DIRECTORY_PARTITION,
  CREDENTIAL_PARTITION_PREFIX,
  USAGE_PARTITION_PREFIX,
} from '../../../shared/store/keys/clinics.ts'
import { CLINIC_FAMILIES } from '../../../shared/store/keys/families.ts'
import { OPERATOR_PARTITION_PREFIXES } from '../../../shared/store/keys/operator.ts'
import { checkedCalls } from '../../support/iam/checked-calls.ts'
import { deployedRoles } from '../../support/iam/deployed-roles.ts'
import { logicalIdAt, templateOf, templatesOf } from '../../support/template.ts'
import { recordCalls } from './recorded-calls.ts'

const template = templateOf('dev')

export const logicalIdOf = (id: string): string => logicalIdAt(template, `${id}/Function`)

/** The roles of the dev stage, as if its table had this name. */
export function rolesWith(tableName: string) {
  const stacks = Object.entries(templatesOf('dev')).map(([stackName, one]) => {
    const copy = structuredClone(one)
    for (const { Type, Properties } of Object.values(copy.Resources))
      if (Type === 'AWS::DynamoDB::Table') Object.assign(Properties, { TableName: tableName })
      else if (Type === 'AWS::SES::ConfigurationSet') Object.assign(Properties, { Name: 'mail' })
    return { stackName, template: copy as never }
  })
  return deployedRoles(stacks)
}

/** What a partition of each family begins with. Conditions keep functions from the families that they do not touch. */
const PARTITIONS: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(CLINIC_FAMILIES).map(([name, code]) => [name, `${'x'.repeat(22)}#${code}`]),
  ),
  ...SHARED_PARTITION_PREFIXES,
  credentials: CREDENTIAL_PARTITION_PREFIX,
  'use of credentials': USAGE_PARTITION_PREFIX,
  clinics: CLINIC_DIRECTORY_PARTITION,
  ...Object.fromEntries(OPERATOR_PARTITION_PREFIXES.map((prefix) => [prefix, prefix])),
}

const CLINIC_NAMES = new Map<string, string>(
  Object.entries(CLINIC_FAMILIES).map(([name, code]) => [code, name]),
)

/** The name of the family that a partition belongs to. */
function familyOf(pk: string): string {
  const code = /^[\w-]{22}#([A-Z]+#?)/.exec(pk)?.[1]
  if (code !== undefined) return CLINIC_NAMES.get(code) ?? pk
  return Object.entries(PARTITIONS).find(([, prefix]) => pk.startsWith(prefix))?.[0] ?? pk
}

/** Every action on items. */
const TABLE_ACTIONS = [
  'GetItem',
  'BatchGetItem',
  'Query',
  'Scan',
  'ConditionCheckItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'BatchWriteItem',
]

export type ExactGrants = ReturnType<typeof exactGrants>

export function exactGrants(tableName: string) {
  const roles = rolesWith(tableName)
  const calls = checkedCalls(roles)
  return {
    functionIds: roles.functions.map(({ functionId }) => functionId).sort(),

    /**
     * Checks that IAM allows every call that `act` makes, and that the role of the function allows nothing else.
     * @param ofTable whether it may make its calls on every partition
     */
    expectExact: async (id: string, act: () => Promise<void>, ofTable = false): Promise<void> => {
      const functionId = logicalIdOf(id)
      for (const call of await recordCalls(act)) calls.add(functionId, call)
      // The families that an action reaches without a call.
      const beyond = async (action: string) => {
        const exactly = new RegExp(`:${action}$`)
        const touched = new Set(calls.partitions(functionId, exactly).map(familyOf))
        const others = Object.entries(PARTITIONS).flatMap(([name, prefix]) =>
          touched.has(name) ? [] : [prefix],
        )
        const reached = await calls.reached(functionId, others, exactly)
        return reached.map((partition) => `${action} ${familyOf(partition)}`)
      }
      expect({
        denied: await calls.denied(functionId),
        unused: await calls.unused(functionId),
        beyond: ofTable ? [] : (await Promise.all(TABLE_ACTIONS.map(beyond))).flat(),
      }).toEqual({ denied: [], unused: [], beyond: [] })
    },
  }
}
