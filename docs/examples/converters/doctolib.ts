/** Doctolib: lists of patients and appointments in French, saved as CSV. */
import { converter, later, Problem, type Row } from '../../../bin/clinic/import/converters/converter.ts'

const DATES = ['do MMMM yyyy', 'dd/MM/yyyy']

/** The minutes of `45 min` or `1 h`. */
function minutesOf(row: Row): number | null {
  const [, count, unit] = /^(\d+) (min|h)$/.exec(row.text('Durée') ?? '') ?? []
  if (unit === undefined) throw new Problem('"Durée" is not such as 45 min or 1 h')
  return Number(count) * (unit === 'h' ? 60 : 1)
}

export default converter({
  Patients: (row) => {
    row.ignore('Nom de naissance', 'Consentement SMS', 'Consentement e-mail', 'Ville')
    return {
      patients: {
        external_id: row.text('Identifiant'),
        first_name: row.text('Prénom'),
        last_name: row.text('Nom'),
        date_of_birth: row.date('Date de naissance', DATES, { locale: 'fr' }),
        phone_number: row.phone('Téléphone', 'FR'),
        email_address: row.text('E-mail'),
        gender: row.oneOf('Civilité', { Mme: 'female', 'M.': 'male' }),
      },
    }
  },
  'Rendez-vous': (row) => {
    row.ignore('Patient')
    const start = row.time('Heure', ["H'h'", "H'h'mm"])
    return {
      doctors: { external_id: row.text('Agenda'), full_name: row.text('Agenda') },
      appointments: {
        external_id: row.text('N°'),
        patient_external_id: row.text('Identifiant'),
        doctor_external_id: row.text('Agenda'),
        appointment_date: row.date('Date', 'dd/MM/yyyy'),
        start_time: start,
        end_time: later(start, minutesOf(row)),
        status: row.oneOf('Statut', {
          Venu: 'completed',
          'Absent non excusé': 'no_show',
          Annulé: 'cancelled',
          Prévu: 'scheduled',
        }),
        notes: row.text('Motif'),
      },
    }
  },
})
