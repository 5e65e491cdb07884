import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition } from './key.ts'

export const departmentsPartition = (clinic: ClinicId): string => partition(clinic, 'CD')

export const departmentKey = (clinic: ClinicId, id: string): Key => ({
  pk: departmentsPartition(clinic),
  sk: id,
})

export const roomsPartition = (clinic: ClinicId): string => partition(clinic, 'CR')

export const roomKey = (clinic: ClinicId, id: string): Key => ({ pk: roomsPartition(clinic), sk: id })

export const treatmentsPartition = (clinic: ClinicId): string => partition(clinic, 'CT')

export const treatmentKey = (clinic: ClinicId, id: string): Key => ({
  pk: treatmentsPartition(clinic),
  sk: id,
})

export const priceListsPartition = (clinic: ClinicId): string => partition(clinic, 'CP')

export const priceListKey = (clinic: ClinicId, id: string): Key => ({
  pk: priceListsPartition(clinic),
  sk: id,
})
