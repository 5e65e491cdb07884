/** Whether `npm run prove` runs, which runs the same tests with larger numbers. */
const EXHAUSTIVE = process.env.EXHAUSTIVE === '1'

/** The number of rounds of a campaign: `quick` in `npm test`, `full` in `npm run prove`. */
export const rounds = (quick: number, full: number): number => (EXHAUSTIVE ? full : quick)

/** fast-check's settings for a property. Failures print their seed; set `SEED` to repeat one. */
export const property = (quick: number, full: number) => ({
  numRuns: rounds(quick, full),
  ...(process.env.SEED !== undefined && { seed: Number(process.env.SEED) }),
})
