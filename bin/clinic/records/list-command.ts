import type { Command } from 'commander'
import { openClinic } from '../tool/connection.ts'
import { print } from '../tool/output.ts'
import { addParameters, failForParameter, parseParameters } from './record-parameters.ts'
import { clockNotes, recordTable } from './record-text.ts'
import type { RecordPage, ResourceCommands, ResourceList } from './resource-commands.ts'

type Given = { readonly clinic: string }

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
  if (argument !== undefined) command.argument(argument)
  addParameters(command.description(description).requiredOption('--clinic <id>'), schema).action(
    async (...args: unknown[]) => {
      const [given, current] = args.slice(-2) as [Given, Command]
      const query = parseParameters(schema, given)
      const context = await openClinic(given, current)
      if (part && given[part.option as keyof Given]) {
        const { data, lines } = await part.read(context)
        print(current, { data }, lines)
        return
      }
      const owner = argument === undefined ? {} : { owner: args[0] }
      const page = await read(context, { ...query, ...owner } as never).catch(failForParameter)
      print(current, page, [
        ...recordTable(resource, page.data),
        [...clockNotes(resource, context), footerOf(page, resource)].join(' '),
      ])
    },
  )
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
