import type { ResolvedTemplate } from '../template/template.ts'

type Mapping = { readonly DomainName: string; readonly BasePath?: string }

/** The custom domains of the API. @throws Error that names a mapping with a base path */
export const domainsOf = (template: ResolvedTemplate): string[] =>
  template.resourcesOf<Mapping>('AWS::ApiGateway::BasePathMapping').map(({ id, properties }) => {
    if (properties.BasePath)
      throw new Error(
        `${id} has the BasePath ${properties.BasePath}; the local gateway serves domains at their root.`,
      )
    return properties.DomainName
  })
