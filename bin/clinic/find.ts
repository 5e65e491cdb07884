import type { Command } from 'commander'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import { departmentStore, priceListStore, roomStore, treatmentStore } from '../../shared/store/catalogue.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { holidayStore, presentImports } from '../../shared/store/holidays.ts'
import { readImportIds } from '../../shared/store/import-ids.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { patientStore } from '../../shared/store/patients/patients.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { placeOf } from './connection.ts'
import { importEntities } from './import/entities.ts'
import { ExternalRef } from './import/references.ts'
import { CommandFailure, parseOption, print } from './output.ts'

type FindOptions = { clinic: string; entity: string; externalId?: string; id?: string }

type Found = { readonly externalId?: string }

export function addFindCommand(program: Command): void {
  program
    .command('find')
    .description("find an imported record by its id in the clinic's own system, or that id by the record's")
    .requiredOption('--clinic <id>')
    .requiredOption('--entity <name>', 'such as patients, doctors or treatments')
    .option('--external-id <id>', "id in the clinic's own system")
    .option('--id <id>', 'id of the record')
    .action(async (given: FindOptions, command: Command) => {
      const { table, clinic } = await placeOf(given, command)
      const entity = importEntities(table, Date.now).find(({ name }) => name === given.entity)
      if (!entity) throw new CommandFailure(`--entity: unknown entity ${given.entity}`)
      if ((given.externalId === undefined) === (given.id === undefined))
        throw new CommandFailure('Specify either --external-id or --id.')
      const id =
        given.externalId === undefined
          ? (given.id as string).toLowerCase()
          : (await readImportIds(table, clinic.id))(
              entity.idKind,
              parseOption('external-id', ExternalRef, given.externalId),
            )
      const found = await findRecord(table, clinic.id, entity.idKind, id)
      if (!found)
        throw new CommandFailure(
          'The clinic has no such record. "ids" lists the external ids of imported records.',
        )
      const { externalId = null } = found
      print(command, { id, external_id: externalId }, [`${id}  ${externalId ?? 'no external id'}`])
    })
}

async function findRecord(table: Table, clinic: ClinicId, kind: string, id: string): Promise<Found | null> {
  const stores: Record<string, () => Promise<Found | null>> = {
    patient: async () => (await patientStore({ table }).findMany(clinic, [id])).get(id) ?? null,
    doctor: () => doctorStore({ table }).find(clinic, id),
    appointment: () => appointmentStore({ table }).find(clinic, id),
    invoice: () => invoiceStore({ table }).find(clinic, id),
    payment: () => paymentStore({ table }).find(clinic, id),
    holiday: async () => presentImports(await holidayStore({ table }).read(clinic))[id] ?? null,
    department: () => departmentStore({ table }).find(clinic, id),
    room: () => roomStore({ table }).find(clinic, id),
    treatment: () => treatmentStore({ table }).find(clinic, id),
    'price-list': () => priceListStore({ table }).find(clinic, id),
    message: () => messageStore({ table }).find(clinic, id),
  }
  return (await stores[kind]?.()) ?? null
}
