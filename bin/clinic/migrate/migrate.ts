import type { Command } from 'commander'
import { migrateSearch, SEARCH_PROGRESS } from '../../../shared/maintenance/migrate/migrate-search.ts'
import { migrateTable } from '../../../shared/maintenance/migrate/migrate-table.ts'
import {
  MIGRATIONS,
  REQUIRED_FORMAT,
  readTableFormat,
} from '../../../shared/maintenance/migrate/migrations.ts'
import { walkKey } from '../../../shared/store/keys/operator.ts'
import { connect, connectDynamoDb, deployedAt } from '../tool/connection.ts'
import { counted, NeedsAttention, print, printProgress, walkNotices } from '../tool/output.ts'
import { hereOption, runInStack } from '../tool/run-in-stack.ts'
import { requireNoReplacement } from '../tool/write-guard.ts'

export function addMigrateCommand(command: Command): void {
  command
    .option('--check', 'only check that this version can read the table (exit code 1 if it cannot)', false)
    .addOption(hereOption())
    .action(async ({ check, here }: { check: boolean; here: boolean }, command: Command) => {
      if (check && REQUIRED_FORMAT === 0)
        return print(command, { required_format: 0 }, ['This version reads tables of every format.'])
      const table = await connect(command)
      if (!check) await requireNoReplacement(table)
      const { client, tableName: name } = await connectDynamoDb(command)
      const before = await readTableFormat(table)
      const pending = check ? [] : MIGRATIONS.filter(({ format }) => format > before)
      const platform = {
        table,
        client,
        name,
        deployedAt: await deployedAt(command),
        ...walkNotices(command, 'item'),
      }
      const results = []
      let failed = 0
      if (!check && !here) {
        const { result } = await runInStack(command, {
          table,
          task: { name: 'migrate', deployedAt: await deployedAt(command) },
          progress: [
            ...pending.map(({ format }) => walkKey('maintain', `migrate#${format}`)),
            SEARCH_PROGRESS,
          ],
          noun: 'item',
        })
        failed = (result as { failed?: number }).failed ?? 0
      }
      // One after the other: each reads the format before it.
      for (const migration of here ? pending : []) {
        printProgress(command, `Format ${migration.format}: ${migration.summary}`)
        results.push(await migrateTable(platform, migration))
      }
      if (!check && here) failed = (await migrateSearch(table, walkNotices(command, 'clinic'))).failed
      const format = await readTableFormat(table)
      print(command, { format, required_format: REQUIRED_FORMAT, migrations: results }, [
        ...results.map((result) => `Format ${result.format}: ${counted(result.migrated, 'item')} migrated`),
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
