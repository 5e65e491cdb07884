import type { Command } from 'commander'
import { connect, requireClinic } from './connection.ts'
import { type GlobalOptions, formatTable as lines, NeedsAttention, printLines } from './output.ts'
import { type Difference, FAULTS } from './verify/fault.ts'
import { type Verification, verifyClinic } from './verify/verify-clinic.ts'

/** Maximum number of differences in the JSON; `total` counts all. */
const MAX_LISTED = 1000

export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description("verify a clinic's lists, tallies and search against its records, while the API is running")
    .requiredOption('--clinic <id>')
    .option('--repair', 'repair what can be repaired', false)
    .addHelpText('after', ['\nDifferences and their repairs:', ...lines(Object.entries(FAULTS))].join('\n'))
    .action(async (given: { clinic: string; repair: boolean }, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
      const { json } = command.optsWithGlobals<GlobalOptions>()
      const printLine = (text: string) => printLines(command, text)
      const listed: Difference[] = []
      const result = await verifyClinic(table, clinic.id, {
        repair: given.repair,
        onDifference: (difference) => {
          if (!json) printLine(formatDifference(difference))
          else if (listed.length < MAX_LISTED) listed.push(difference)
        },
      })
      const { checked, differences: total, repaired } = result
      printLine(
        json
          ? JSON.stringify({ checked, total, repaired, differences: listed.map(differenceJson) })
          : summary(result),
      )
      if (total > repaired) throw new NeedsAttention()
    })
}

const formatDifference = ({ kind, key, note, repaired }: Difference): string =>
  `${kind}  ${key.pk} ${key.sk}${note ? `  ${note}` : ''}${repaired ? '  (repaired)' : ''}`

const differenceJson = ({ kind, key, note, repaired }: Difference) => ({
  kind,
  pk: key.pk,
  sk: key.sk,
  note: note ?? null,
  repaired,
})

function summary({ checked, differences, repaired }: Verification): string {
  const counts = Object.entries(checked).map(
    ([what, count]) => `${count.toLocaleString('en')} ${what.replace('_', ' ')}`,
  )
  const found = differences === 1 ? '1 difference' : `${differences.toLocaleString('en')} differences`
  const repairedText = repaired > 0 ? `, ${repaired.toLocaleString('en')} repaired` : ''
  return `Checked ${counts.join(', ')}: ${found}${repairedText}`
}
