import { getAccount, getHealth } from './account.ts'
import { aliasRoutes } from './aliases.ts'
import {
  cancelAppointment,
  checkInAppointment,
  completeAppointment,
  confirmAppointment,
  noShowAppointment,
  reopenAppointment,
} from './appointment-actions.ts'
import { getAppointment, listAppointments } from './appointments.ts'
import { getAvailability } from './availability.ts'
import { createAppointment, updateAppointment } from './bookings.ts'
import {
  getDepartment,
  getPriceList,
  getRoom,
  getTreatment,
  listDepartments,
  listPriceLists,
  listRooms,
  listTreatments,
} from './catalogue.ts'
import {
  createDepartment,
  createPriceList,
  createRoom,
  createTreatment,
  deletePriceList,
  updateDepartment,
  updatePriceList,
  updateRoom,
  updateTreatment,
} from './catalogue-changes.ts'
import { getClinic } from './clinic.ts'
import { listDeliveries, pingWebhook, redeliver } from './deliveries.ts'
import { getDoctor, listDoctors } from './doctors.ts'
import { listEvents } from './events.ts'
import { createHold, deleteHold, getHold } from './holds.ts'
import { createHoliday, deleteHoliday, listHolidays } from './holidays.ts'
import { getInvoice, listInvoices } from './invoices.ts'
import { getMessage, listMessages } from './messages.ts'
import { createDoctor, updateDoctor } from './new-doctor.ts'
import { cancelInvoice, createInvoice, sendInvoice, updateInvoice } from './new-invoice.ts'
import { sendMessage } from './new-message.ts'
import { createPatient, updatePatient } from './new-patient.ts'
import { createPayment, voidPayment } from './new-payment.ts'
import { activatePatient, deactivatePatient } from './patient-status.ts'
import { getPatient, listPatients } from './patients.ts'
import { getPayment, listInvoicePayments, listPayments } from './payments.ts'
import type { Route } from './route.ts'
import { getSchedule } from './schedule.ts'
import { syncRecords } from './sync.ts'
import { createTimeOff, deleteTimeOff, listTimeOff } from './time-off.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
} from './webhooks.ts'

/** THE ROUTE TABLE: every endpoint of the API. To register an endpoint, add it here. */
const DEFINITIONS = [
  getAccount,
  getHealth,
  getClinic,
  listPatients,
  createPatient,
  getPatient,
  updatePatient,
  deactivatePatient,
  activatePatient,
  listDoctors,
  getDoctor,
  createDoctor,
  updateDoctor,
  getSchedule,
  listTimeOff,
  createTimeOff,
  deleteTimeOff,
  listHolidays,
  createHoliday,
  deleteHoliday,
  listDepartments,
  createDepartment,
  getDepartment,
  updateDepartment,
  listRooms,
  createRoom,
  getRoom,
  updateRoom,
  listTreatments,
  createTreatment,
  getTreatment,
  updateTreatment,
  getAvailability,
  createHold,
  getHold,
  deleteHold,
  listAppointments,
  createAppointment,
  getAppointment,
  updateAppointment,
  confirmAppointment,
  cancelAppointment,
  checkInAppointment,
  completeAppointment,
  noShowAppointment,
  reopenAppointment,
  listPriceLists,
  createPriceList,
  getPriceList,
  updatePriceList,
  deletePriceList,
  listInvoices,
  createInvoice,
  getInvoice,
  updateInvoice,
  sendInvoice,
  cancelInvoice,
  listInvoicePayments,
  listPayments,
  getPayment,
  createPayment,
  voidPayment,
  listMessages,
  sendMessage,
  syncRecords,
  getMessage,
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  pingWebhook,
  listDeliveries,
  redeliver,
  listEvents,
] as const satisfies readonly Route[]

/** The definition of any one endpoint, with its literal id. */
export type Endpoint = (typeof DEFINITIONS)[number]

/** Every endpoint. */
export const ENDPOINTS: readonly Route[] = DEFINITIONS

/** Every route: the endpoints, each with a function, and their aliases. */
export const ROUTES: readonly Route[] = [...ENDPOINTS, ...aliasRoutes(ENDPOINTS)]
