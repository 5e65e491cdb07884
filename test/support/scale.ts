/** Whether this is `npm run prove`: the same tests with bigger numbers. */
const PROVING = process.env.PROVE === '1'

/** How often a campaign runs: a little in `npm test`, in full in `npm run prove`. */
export const rounds = (quick: number, full: number): number => (PROVING ? full : quick)

/** fast-check's settings for a property: the seed is printed with every failure, and can be set to repeat it. */
export const property = (quick: number, full: number) => ({
  numRuns: rounds(quick, full),
  ...(process.env.SEED !== undefined && { seed: Number(process.env.SEED) }),
})
