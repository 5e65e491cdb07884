import type { PriceList, Room, Treatment } from '../../shared/domain/booking/catalogue.ts'
import { newUuid } from '../../shared/domain/uuid.ts'

export const aRoom = (facts: Partial<Room> = {}): Room => ({
  id: newUuid(),
  name: 'Room 1',
  departmentId: null,
  isActive: true,
  ...facts,
})

/** A treatment that no doctor offers. */
export const aTreatment = (facts: Partial<Treatment> = {}): Treatment => ({
  id: newUuid(),
  name: 'Check-up',
  code: null,
  description: null,
  minutes: 30,
  price: 12_000,
  currency: 'EUR',
  doctorIds: [],
  isActive: true,
  ...facts,
})

/** A price list without prices. */
export const aPriceList = (facts: Partial<PriceList> = {}): PriceList => ({
  id: newUuid(),
  name: 'Private',
  currency: 'EUR',
  isDefault: false,
  validFrom: null,
  validTo: null,
  items: [],
  ...facts,
})
