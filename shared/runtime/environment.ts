/** The one place that reads the environment. Infrastructure sets exactly these variables (infra/api-function.ts). */
import * as z from 'zod'

const Environment = z.object({
  TABLE_NAME: z.string().min(1),
  /** Whether answers are held against their response schema: on in development, not paid for in production. */
  CHECK_RESPONSES: z.enum(['on', 'off']),
  /** For credentials that were issued without a rate of their own. */
  REQUESTS_PER_MINUTE: z.coerce.number().int().positive(),
})

export type Environment = z.infer<typeof Environment>

/** @throws ZodError naming the variables that are missing */
export const readEnvironment = (): Environment => Environment.parse(process.env)
