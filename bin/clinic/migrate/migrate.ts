import type { Command } from 'commander'
import { SEARCH_PROGRESS } from '../../../shared/maintenance/migrate/migrate-search.ts'
import {
  MIGRATIONS,
  REQUIRED_FORMAT,
  readTableFormat,
} from '../../../shared/maintenance/migrate/migrations.ts'
import { walkKey } from '../../../shared/store/keys/operator.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { connect, deployedAt } from '../tool/connection.ts'
import { counted, NeedsAttention, print } from '../tool/output.ts'
import { runInStack } from '../tool/run-in-stack.ts'
import { requireNoReplacement } from '../tool/write-guard.ts'

export function addMigrateCommand(command: Command): void {
  command
    .option('--check', 'only check that this version can read the table (exit code 1 if it cannot)', false)
    .action(async ({ check }: { check: boolean }, command: Command) => {
      if (check && REQUIRED_FORMAT === 0)
        return print(command, { required_format: 0 }, ['This version reads tables of every format.'])
      const table = await connect(command)
      const failed = check ? 0 : await migrate(command, table)
      const format = await readTableFormat(table)
      print(command, { format, required_format: REQUIRED_FORMAT }, [
        `The table has format ${format}; this version requires ${REQUIRED_FORMAT}.`,
        ...(failed > 0
          ? [
              `${counted(failed, 'clinic')} could not be migrated: "verify --all" says why. Repair, and repeat this.`,
            ]
          : []),
      ])
      if (format < REQUIRED_FORMAT || failed > 0) throw new NeedsAttention()
    })
}

/** Returns the number of clinics that could not be migrated. */
async function migrate(command: Command, table: Table): Promise<number> {
  await requireNoReplacement(table)
  const before = await readTableFormat(table)
  const pending = MIGRATIONS.filter(({ format }) => format > before)
  const { result } = await runInStack(command, {
    table,
    task: { name: 'migrate', deployedAt: await deployedAt(command) },
    progress: [...pending.map(({ format }) => walkKey('maintain', `migrate#${format}`)), SEARCH_PROGRESS],
    noun: 'item',
  })
  return (result as { failed?: number }).failed ?? 0
}
