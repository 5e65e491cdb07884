import { runMaintenance } from '../../shared/maintenance/run-maintenance.ts'
import { maintenanceQueue } from '../../shared/maintenance/walk/maintenance-queue.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { readMaintenanceEnvironment, readWorkerEnvironment } from '../../shared/runtime/environment.ts'
import { queueClient } from '../../shared/runtime/queue-client.ts'
import { queueWorker } from '../../shared/runtime/worker.ts'
import { runMaintenanceWorker } from '../../shared/runtime/workers.ts'
import { openTable } from '../../shared/store/table/table.ts'

function openMaintenance() {
  const client = documentClient()
  return {
    client,
    tableName: readWorkerEnvironment().TABLE_NAME,
    openTable: (name: string) => openTable(client, name),
    push: maintenanceQueue(queueClient(), readMaintenanceEnvironment().MAINTENANCE_QUEUE_URL),
  }
}

/** Consumes the queue of maintenance, which operators start. */
export const handler = queueWorker(
  runMaintenanceWorker,
  { maintenance: openMaintenance },
  ({ body, remainingMs }, { maintenance }) => runMaintenance(maintenance, body, remainingMs),
)
