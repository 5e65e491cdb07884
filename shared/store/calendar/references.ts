/** References to other records with the copy of their name, as records store them. */
import type { CatalogueReference, PersonReference } from '../../domain/booking/appointment.ts'
import { codec, text } from '../table/attributes.ts'

export const CATALOGUE_REFERENCE = codec<CatalogueReference>({ id: text('i'), name: text('n') })
export const PERSON_REFERENCE = codec<PersonReference>({ id: text('i'), fullName: text('n') })
