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
  /** Calls of SQS on the queue of maintenance, which a worker of the stack does. */
  readonly maintenance?: readonly string[]
}

/** A dead letter that was read is given back at once. */
const READ_DEAD_LETTERS = ['ReceiveMessage', 'ChangeMessageVisibility'] as const

const reading: Calls = { role: 'read', table: READ }
const changing: Calls = { role: 'support', table: [...READ, ...WRITE] }
const erasing: Calls = { role: 'erase', table: [...READ, ...WRITE] }

/** Commands that only read clinics' data: the verbs of each noun. */
const READING: Readonly<Record<string, string>> = {
  clinic: 'list show',
  credential: 'list show',
  patient: 'export',
  erasure: 'list',
  message: 'unresolved',
}

/** Commands that change clinics' data: the verbs of each noun. */
const CHANGING: Readonly<Record<string, string>> = {
  clinic: 'create update pause resume',
  credential: 'create create-temporary update rotate revoke',
  doctor: 'link unlink',
  patient: 'link unlink',
  appointment: 'link unlink',
  invoice: 'correct',
  message: 'resolve',
}

const named = (verbs: typeof READING, calls: Calls): Record<string, Calls> =>
  Object.fromEntries(
    Object.entries(verbs).flatMap(([noun, list]) =>
      list.split(' ').map((verb) => [`${noun} ${verb}`, calls]),
    ),
  )

/** Every command that uses the stack, by name. One with another role for an option is listed with the option. */
export const COMMANDS: Readonly<Record<string, Calls>> = {
  ...named(READING, reading),
  ...named(CHANGING, changing),
  import: changing,
  link: changing,
  export: reading,
  ids: reading,
  'clinic delete': { role: 'maintain', table: [...READ, ...WRITE, 'Scan'] },
  'patient erase': erasing,
  'erasure replay': erasing,
  'dead-letter count': { role: 'read', table: [], deadLetters: ['GetQueueAttributes'] },
  'dead-letter list': { role: 'read', table: [], deadLetters: READ_DEAD_LETTERS },
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
  verify: { ...reading, progress: ['DeleteItem', 'UpdateItem'] },
  'verify --repair': changing,
  'credential revoke --all': { ...changing, table: [...READ, ...WRITE, 'Scan'] },
  'verify --all': { role: 'maintain', table: [...READ, ...WRITE], maintenance: ['SendMessage'] },
  'restore table': { role: 'maintain', table: [...READ, ...WRITE, ...RESTORE, 'Scan'] },
  'restore configure': { role: 'maintain', table: RESTORE },
  'restore reconcile': { role: 'maintain', table: [...READ, ...WRITE], maintenance: ['SendMessage'] },
  'restore cancel': { role: 'maintain', table: [...READ, ...WRITE] },
  'restore clinic': { role: 'maintain', table: [...READ, ...WRITE, 'DescribeTable'] },
  migrate: { role: 'maintain', table: [...READ, ...WRITE, 'Scan'], maintenance: ['SendMessage'] },
}

/**
 * Commands that may write to a clinic while its records are restored. They change nothing that a restore puts back, except for erasures,
 * which a restore never undoes.
 */
export const COMMANDS_DURING_RESTORE: readonly string[] = [
  'restore clinic',
  'patient erase',
  'credential create',
  'credential create-temporary',
  'credential update',
  'credential rotate',
  'credential revoke',
  'message resolve',
]

/** The calls of all commands of a role. A role that may change the records of dead letters may also read these. */
export function callsOf(role: OperatorRole): {
  readonly table: string[]
  readonly progress: string[]
  readonly deadLetters: string[]
  readonly queues: string[]
  readonly maintenance: string[]
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
    maintenance: all(commands([role]).map(({ maintenance }) => maintenance)),
  }
}

/** The output of the stack with the ARN of a role. */
export const roleOutput = (role: OperatorRole): string =>
  `${role.charAt(0).toUpperCase()}${role.slice(1)}RoleArn`
