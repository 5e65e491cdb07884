/** A plain Turkish spreadsheet, as Excel saves it: import it with `--encoding windows-1254`. */
import { converter } from '../../../bin/clinic/import/converters/converter.ts'

export default converter({
  doctors: (row) => ({
    doctors: {
      external_id: row.text('Doktor Kodu'),
      full_name: row.text('Ad Soyad'),
      specialty: row.text('Branş'),
    },
  }),
  patients: (row) => {
    row.ignore('İlçe', 'Şehir')
    return {
      patients: {
        external_id: row.text('Hasta No'),
        first_name: row.text('Adı'),
        last_name: row.text('Soyadı'),
        date_of_birth: row.date('Doğum Tarihi', 'd.M.yyyy'),
        gender: row.oneOf('Cinsiyet', { Kadın: 'female', Erkek: 'male' }),
        phone_number: row.phone('Cep Telefonu', 'TR'),
        email_address: row.text('E-posta'),
        created_at: row.timestamp('Kayıt Tarihi', 'd.M.yyyy', { zone: 'clinic' }),
      },
    }
  },
  appointments: (row) => ({
    appointments: {
      external_id: row.text('Randevu No'),
      patient_external_id: row.text('Hasta No'),
      doctor_external_id: row.text('Doktor Kodu'),
      appointment_date: row.date('Tarih', 'd.M.yyyy'),
      start_time: row.time('Başlangıç', 'H:mm'),
      end_time: row.time('Bitiş', 'H:mm'),
      status: row.oneOf('Durum', { geldi: 'completed', iptal: 'cancelled', gelmedi: 'no_show' }),
      notes: row.text('Açıklama'),
    },
  }),
  invoices: (row) => ({
    invoices: {
      external_id: row.text('Fatura No'),
      invoice_number: row.text('Fatura No'),
      patient_external_id: row.text('Hasta No'),
      issue_date: row.date('Fatura Tarihi', 'd.M.yyyy'),
      subtotal: row.amount('Tutar', ',', 'TRY'),
      tax_amount: row.amount('KDV', ',', 'TRY'),
      total_amount: row.amount('Genel Toplam', ',', 'TRY'),
      status: row.oneOf('Durum', { Kesildi: 'sent', Ödendi: 'paid', İptal: 'cancelled' }),
    },
  }),
})
