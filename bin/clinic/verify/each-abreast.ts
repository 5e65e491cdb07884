import { abreast } from '../../../shared/store/table/map-concurrent.ts'

/** Enough to hide the way to the table and back, not so many that the API would feel them. */
const AT_A_TIME = 16

/** Works on several items at a time. */
export async function eachAbreast<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  await abreast(AT_A_TIME, items, work)
}
