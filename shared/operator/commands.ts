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
  'clinic update': changing,
  'clinic use': reading,
  'clinic pause': changing,
  'clinic resume': changing,
  'clinic delete': { role: 'maintain', table: [...READ, ...WRITE, 'Scan'] },
  'holiday create': changing,
  'holiday list': reading,
  'holiday delete': changing,
  'credential create': changing,
  'credential list': reading,
  'credential update': changing,
  'credential rotate': changing,
  'credential revoke': changing,
  'doctor create': changing,
  'doctor list': reading,
  'doctor show': reading,
  'doctor find': reading,
  'doctor update': changing,
  'doctor link': changing,
  'doctor unlink': changing,
  'department create': changing,
  'department list': reading,
  'department show': reading,
  'department find': reading,
  'department update': changing,
  'room create': changing,
  'room list': reading,
  'room show': reading,
  'room find': reading,
  'room update': changing,
  'treatment create': changing,
  'treatment list': reading,
  'treatment show': reading,
  'treatment find': reading,
  'treatment update': changing,
  'price-list create': changing,
  'price-list list': reading,
  'price-list show': reading,
  'price-list find': reading,
  'price-list update': changing,
  'price-list delete': changing,
  import: changing,
  export: reading,
  ids: reading,
  'patient update': changing,
  'patient link': changing,
  'patient unlink': changing,
  'patient list': reading,
  'patient show': reading,
  'patient find': reading,
  'patient export': reading,
  'patient erase': erasing,
  'erasure list': reading,
  'erasure replay': erasing,
  'appointment complete': changing,
  'appointment no-show': changing,
  'appointment list': reading,
  'appointment show': reading,
  'appointment find': reading,
  'appointment cancel': changing,
  'appointment move': changing,
  'appointment reopen': changing,
  'appointment link': changing,
  'appointment unlink': changing,
  'invoice list': reading,
  'invoice show': reading,
  'invoice find': reading,
  'invoice update': changing,
  'payment create': changing,
  'payment void': changing,
  'payment list': reading,
  'payment show': reading,
  'payment find': reading,
  'message resolve': changing,
  'message show': reading,
  'message list': reading,
  'message find': reading,
  'dead-letter count': { role: 'read', table: [], deadLetters: ['GetQueueAttributes'] },
  'dead-letter list': { role: 'read', table: [], deadLetters: READ_DEAD_LETTERS },
  'dead-letter show': { role: 'read', table: [], deadLetters: READ_DEAD_LETTERS },
  'dead-letter redrive': {
    role: 'support',
    table: [],
    deadLetters: [...READ_DEAD_LETTERS, 'DeleteMessage'],
    queues: ['SendMessage'],
  },
  'dead-letter delete': {
    role: 'support',
    table: [],
    deadLetters: [...READ_DEAD_LETTERS, 'DeleteMessage'],
  },
  'webhook list': reading,
  'webhook show': reading,
  'webhook find': reading,
  'webhook update': changing,
  'webhook delete': changing,
  'delivery list': reading,
  verify: { ...reading, progress: ['DeleteItem', 'UpdateItem'] },
  'verify --repair': changing,
  'restore table': { role: 'maintain', table: [...READ, ...WRITE, ...RESTORE, 'Scan'] },
  'restore configure': { role: 'maintain', table: RESTORE },
  'restore reconcile': { role: 'maintain', table: [...READ, ...WRITE] },
  migrate: { role: 'maintain', table: [...READ, ...WRITE, 'Scan'] },
}

/** Former names of commands, and what to use. docs/operate/commands.md has the same table. */
export const RENAMED_COMMANDS: Readonly<Record<string, string>> = {
  'clinic set': 'clinic update',
  'clinic holiday add': 'holiday create',
  'clinic holiday list': 'holiday list',
  'clinic holiday remove': 'holiday delete',
  'credential revoke-all': 'credential revoke --all',
  'doctor add': 'doctor create',
  'doctor schedule': 'doctor update',
  'doctor time-off': 'doctor update --add-time-off',
  'doctor activate': 'doctor update --active',
  'doctor deactivate': 'doctor update --no-active',
  'department add': 'department create',
  'department activate': 'department update --active',
  'department deactivate': 'department update --no-active',
  'room add': 'room create',
  'room activate': 'room update --active',
  'room deactivate': 'room update --no-active',
  'treatment add': 'treatment create',
  'treatment activate': 'treatment update --active',
  'treatment deactivate': 'treatment update --no-active',
  'price-list add': 'price-list create',
  'price-list remove': 'price-list delete',
  find: 'NOUN find --external-id',
  'appointment set-status': 'appointment complete, cancel, no-show or reopen',
  'invoice set-status': 'invoice update --status',
  'invoice correct': 'invoice update',
  'payment add': 'payment create',
  'message failed': 'message list --status failed',
  'message unresolved': 'message list --unresolved',
  'message redrive': 'dead-letter redrive --all',
  'dead-letter discard': 'dead-letter delete',
  'webhook disable': 'webhook update --no-active',
  'webhook deliveries': 'delivery list',
  'restore settle': 'restore reconcile',
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
  'restore reconcile',
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
