import { expect, it } from 'vitest'
import type { Template } from '../../infra/local/template/template.ts'
import { runStack, send } from '../support/local-stack.ts'
import { sharedAssembly } from '../support/shared-assembly.ts'

type Role = { Policies?: { PolicyDocument: { Statement: { Action: string | string[] }[] } }[] }

/** The template without the grant of one call of the table. */
function without(action: string, template: Template): Template {
  const copy = structuredClone(template)
  for (const { Type, Properties } of Object.values(copy.Resources))
    if (Type === 'AWS::IAM::Role')
      for (const { PolicyDocument } of (Properties as Role).Policies ?? [])
        PolicyDocument.Statement = PolicyDocument.Statement.filter(
          (one) => ![one.Action].flat().includes(action),
        )
  return copy
}

it('a stack whose function makes a call that IAM would deny cannot be closed without an error', async () => {
  const stack = await runStack({
    demo: false,
    synthesize: async (context) => {
      const assembly = await sharedAssembly(context)
      return { ...assembly, template: without('dynamodb:GetItem', assembly.template) }
    },
  })
  // Authentication looks for the credential.
  const { status } = await send(`${stack.api}/patients`, {
    headers: { authorization: 'Developer ck_1:cs_1' },
  })
  expect(status).toBe(401)
  // The start of the function looks for another one.
  await expect(stack.close()).rejects.toThrow(
    /^(IAM would deny Apilistpatients\S+ dynamodb:GetItem \S+ {"dynamodb:LeadingKeys":\["credential#(ck_1|none)"\]}\n?){2}$/,
  )
})
