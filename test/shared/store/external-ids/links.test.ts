import { expect, it } from 'vitest'
import { externalIds } from '../../../../shared/store/external-ids/links.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { ConditionFailed, ExternalIdTaken } from '../../../../shared/store/table/errors.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

it('rejects an external id that is the id of a record which is created at the same time', async () => {
  const { id: clinic } = await newClinic(db.table)
  const [patient, other] = [aPatient(), aPatient()]
  const move = async () => {
    const changes = new Changeset(db.table, clinic)
    await externalIds(db).move(changes, 'patient', patient.id, null, other.id)
    return changes
  }
  const changes = await move()
  await patientWriter(db).createMany(clinic, [other])
  await expect(changes.commit()).rejects.toBeInstanceOf(ConditionFailed)
  await expect(move()).rejects.toEqual(new ExternalIdTaken(other.id))
})
