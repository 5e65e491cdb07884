/** Commands of the operator tool: the calls of each, and its role. The policies of the roles follow from it. */

export const OPERATOR_ROLES = ['read', 'support', 'erase', 'maintain'] as const

/**
 * `read`: reads clinics' data. `support`: also changes it. `erase`: erases patients. `maintain`: restores the table, migrates
 * its items and deletes clinics.
 */
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

const READ = ['BatchGetItem', 'GetItem', 'Query'] as const
const WRITE = ['BatchWriteItem', 'ConditionCheckItem', 'DeleteItem', 'PutItem', 'UpdateItem'] as const
const RESTORE = [
  ...['DescribeTable', 'DescribeTimeToLive', 'ListTagsOfResource', 'RestoreTableToPointInTime'],
  ...['TagResource', 'UpdateContinuousBackups', 'UpdateTable', 'UpdateTimeToLive'],
] as const

type Calls = {
  readonly role: OperatorRole
  /** Calls of DynamoDB, on the table in use and on tables that were restored from it. */
  readonly table: readonly string[]
  /** Calls on the partitions in which it stores how far it is, for a role that may write nothing else. */
  readonly progress?: readonly string[]
  /** Calls of SQS on queues of dead letters. */
  readonly deadLetters?: readonly string[]
  /** Calls of SQS on the queues that dead letters come from. */
  readonly queues?: readonly string[]
}

/** A dead letter that was read is given back at once. */
const READ_DEAD_LETTERS = ['ReceiveMessage', 'ChangeMessageVisibility'] as const

const reading: Calls = { role: 'read', table: READ }
const changing: Calls = { role: 'support', table: [...READ, ...WRITE] }
const erasing: Calls = { role: 'erase', table: [...READ, ...WRITE] }

/** Every command that uses the stack, by name. One with another role for an option is listed with the option. */
export const COMMANDS: Readonly<Record<string, Calls>> = {
  'clinic create': changing,
  'clinic list': reading,
  'clinic show': reading,
  'clinic set': changing,
  'clinic holiday add': changing,
  'clinic holiday remove': changing,
  'clinic holiday list': reading,
  'clinic pause': changing,
  'clinic resume': changing,
  'clinic delete': { role: 'maintain', table: [...READ, ...WRITE, 'Scan'] },
  'credential create': changing,
  'credential list': reading,
  'credential update': changing,
  'credential rotate': changing,
  'credential revoke': changing,
  'credential revoke-all': changing,
  'doctor add': changing,
  'doctor list': reading,
  'doctor update': changing,
  'doctor schedule': changing,
  'doctor time-off': changing,
  'doctor show': reading,
  'doctor deactivate': changing,
  'doctor activate': changing,
  'doctor link': changing,
  'doctor unlink': changing,
  'department add': changing,
  'department list': reading,
  'department update': changing,
  'department deactivate': changing,
  'department activate': changing,
  'room add': changing,
  'room list': reading,
  'room update': changing,
  'room deactivate': changing,
  'room activate': changing,
  'treatment add': changing,
  'treatment list': reading,
  'treatment update': changing,
  'treatment deactivate': changing,
  'treatment activate': changing,
  'price-list add': changing,
  'price-list list': reading,
  'price-list update': changing,
  'price-list remove': changing,
  import: changing,
  export: reading,
  find: reading,
  ids: reading,
  'patient update': changing,
  'patient link': changing,
  'patient unlink': changing,
  'patient list': reading,
  'patient show': reading,
  'patient find': reading,
  'patient export': reading,
  'patient erase': erasing,
  'erasures list': reading,
  'erasures replay': erasing,
  'appointment set-status': changing,
  'appointment list': reading,
  'appointment show': reading,
  'appointment find': reading,
  'appointment cancel': changing,
  'appointment move': changing,
  'appointment reopen': changing,
  'appointment link': changing,
  'appointment unlink': changing,
  'invoice set-status': changing,
  'invoice list': reading,
  'invoice show': reading,
  'invoice find': reading,
  'invoice correct': changing,
  'payment add': changing,
  'payment void': changing,
  'payment list': reading,
  'payment show': reading,
  'payment find': reading,
  'messages unresolved': reading,
  'messages resolve': changing,
  'messages failed': reading,
  'messages show': reading,
  'messages list': reading,
  'messages find': reading,
  'messages redrive': {
    role: 'support',
    table: [],
    deadLetters: ['ReceiveMessage', 'DeleteMessage'],
    queues: ['SendMessage'],
  },
  'dead-letters count': { role: 'read', table: [], deadLetters: ['GetQueueAttributes'] },
  'dead-letters list': { role: 'read', table: [], deadLetters: READ_DEAD_LETTERS },
  'dead-letters show': { role: 'read', table: [], deadLetters: READ_DEAD_LETTERS },
  'dead-letters redrive': {
    role: 'support',
    table: [],
    deadLetters: [...READ_DEAD_LETTERS, 'DeleteMessage'],
    queues: ['SendMessage'],
  },
  'dead-letters discard': {
    role: 'support',
    table: [],
    deadLetters: [...READ_DEAD_LETTERS, 'DeleteMessage'],
  },
  'webhook list': reading,
  'webhook show': reading,
  'webhook find': reading,
  'webhook deliveries': reading,
  'webhook disable': changing,
  'webhook delete': changing,
  verify: { ...reading, progress: ['DeleteItem', 'UpdateItem'] },
  'verify --repair': changing,
  'restore table': { role: 'maintain', table: [...READ, ...WRITE, ...RESTORE, 'Scan'] },
  'restore configure': { role: 'maintain', table: RESTORE },
  'restore settle': { role: 'maintain', table: [...READ, ...WRITE] },
  migrate: { role: 'maintain', table: [...READ, ...WRITE, 'Scan'] },
}

/**
 * Commands that read a whole clinic or the whole table, patients included. Their lines in the access trail have no ids of the
 * records. docs/security.md has the same in its query.
 */
export const WHOLE_CLINIC_COMMANDS = [
  'export',
  'ids',
  'import',
  'verify',
  'clinic delete',
  'migrate',
  'restore configure',
  'restore settle',
  'restore table',
] as const

/** The calls of all commands of a role. A role that may change the records of dead letters may also read these. */
export function callsOf(role: OperatorRole): {
  readonly table: string[]
  readonly progress: string[]
  readonly deadLetters: string[]
  readonly queues: string[]
} {
  const commands = (roles: readonly OperatorRole[]) =>
    Object.values(COMMANDS).filter((command) => roles.includes(command.role))
  const all = (calls: readonly (readonly string[] | undefined)[]) =>
    [...new Set(calls.flatMap((names) => names ?? []))].sort()
  const onQueues = commands(role === 'support' ? ['read', 'support'] : [role])
  return {
    table: all(commands([role]).map(({ table }) => table)),
    progress: all(commands([role]).map(({ progress }) => progress)),
    deadLetters: all(onQueues.map(({ deadLetters }) => deadLetters)),
    queues: all(onQueues.map(({ queues }) => queues)),
  }
}

/** The output of the stack with the ARN of a role. */
export const roleOutput = (role: OperatorRole): string =>
  `${role.charAt(0).toUpperCase()}${role.slice(1)}RoleArn`
