import type { Command } from 'commander'
import { connect, openClinic } from '../tool/connection.ts'
import { CommandFailure, print } from '../tool/output.ts'
import { addParameters, failForParameter, parseParameters } from './record-parameters.ts'
import { clockNotes, recordTable } from './record-text.ts'
import type { RecordPage, ResourceCommands, ResourceList } from './resource-commands.ts'

/** Makes a command the list of a resource. The value of an `argument` is the `owner` in the query that is read. */
export function addListCommand<Wire extends { readonly id: string }>(
  command: Command,
  description: string,
  resource: Pick<ResourceCommands<Wire>, 'noun' | 'plural' | 'cells' | 'hasClockTimes'> & {
    readonly list: ResourceList<Wire>
  },
  argument?: string,
): void {
  const { query: schema, read, part } = resource.list
  if (part) command.option(`--${part.option}`, part.description)
  if (part?.readAll) command.option('--all', `with --${part.option}: of all clinics`)
  if (argument !== undefined) command.argument(argument)
  addParameters(command.description(description), schema).action(async (...args: unknown[]) => {
    const [given, current] = args.slice(-2) as [Readonly<Record<string, unknown>>, Command]
    const query = parseParameters(schema, given)
    if (given.all && !given[part?.option ?? '']) throw new CommandFailure(`--all needs --${part?.option}`)
    if (part?.readAll && given.all) {
      const { data, lines } = await part.readAll(await connect(current))
      return print(current, { data }, lines)
    }
    const context = await openClinic(current)
    if (part && given[part.option]) {
      const { data, lines } = await part.read(context)
      return print(current, { data }, lines)
    }
    const owner = argument === undefined ? {} : { owner: args[0] }
    const page = await read(context, { ...query, ...owner } as never).catch(failForParameter)
    print(current, page, [
      ...recordTable(resource, page.data),
      [...clockNotes(resource, context), footerOf(page, resource)].join(' '),
    ])
  })
}

/** How far the list goes, and how to continue it. */
function footerOf(
  { data, meta }: RecordPage<unknown>,
  { noun, plural }: Pick<ResourceCommands<unknown>, 'noun' | 'plural'>,
): string {
  const { page, total, total_pages: pages = 0, next_after: nextAfter } = meta
  const hasMore = meta.has_more ?? (page !== undefined && page < pages)
  const next = page === undefined ? `--after ${nextAfter}` : `--page ${page + 1}`
  const counted = total ?? data.length
  const count = `${counted} ${counted === 1 ? noun : plural}${total ? `, page ${page} of ${pages}` : ''}`
  return hasMore ? `${count}. Next: ${next}` : `${count}.`
}
