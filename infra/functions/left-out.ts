/** Parts of packages that functions never run, and what bundles contain instead. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import { PROJECT } from '../kept/kept-files.ts'

const replacement = (name: string) => JSON.stringify(join(PROJECT, 'shared/runtime', name))
const SDK_ENVIRONMENT = `export * from ${replacement('sdk-environment.ts')}`
const SMITHY = '@smithy/core/dist-es/submodules'

/** Clients in bundles, with the name that each service has in its endpoint. */
export const SERVICES = { dynamodb: 'dynamodb', sqs: 'sqs', sns: 'sns', sesv2: 'email' } as const

/** Files of node_modules, with their code in bundles. */
export const REPLACED_FILES: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node/dist-es/index.js': SDK_ENVIRONMENT,
  [`${SMITHY}/config/node-config-provider/configLoader.js`]: SDK_ENVIRONMENT,
  ...Object.fromEntries(
    Object.entries(SERVICES).map(([client, service]) => [
      `@aws-sdk/client-${client}/dist-es/endpoint/endpointResolver.js`,
      `import { endpointResolver } from ${replacement('sdk-environment.ts')}
export const defaultEndpointResolver = endpointResolver('${service}')`,
    ]),
  ),
  [`${SMITHY}/checksum/sha256/Sha256Node.js`]: `export * from ${replacement('sdk-hash.ts')}`,
  // It is for values that refer to themselves, and JSON has none.
  'zod/v4/core/memoizer.js':
    'export const memoizer = () => undefined, isBackEdge = () => false, isRecursiveSchema = () => false',
  // Node's other implementation of UUIDs is one more module to load.
  [`${SMITHY}/serde/uuid/v4.js`]:
    "import { randomUUID } from 'node:crypto'\nexport const bindV4 = () => () => randomUUID()",
  // Only some commands of other services discover their endpoint. The cache of endpoints has two more packages.
  '@aws-sdk/client-dynamodb/dist-es/commands/DescribeEndpointsCommand.js':
    'export const DescribeEndpointsCommand = undefined',
  '@aws-sdk/middleware-endpoint-discovery/dist-es/resolveEndpointDiscoveryConfig.js':
    'export const resolveEndpointDiscoveryConfig = (config) => config',
  // The first use of the global `ReadableStream` loads modules of Node. Bodies of responses are streams of node:http.
  [`${SMITHY}/serde/util-stream/stream-type-check.js`]:
    'export const isReadableStream = () => false\nexport const isBlob = () => false',
  [`${SMITHY}/event-streams/index.js`]: `export function EventStreamSerde() {
    throw new Error('Event streams are left out of bundles.')
  }
  export const eventStreamSerdeProvider = undefined`,
}

/** Files of node_modules whose exports throw in bundles when they are called. */
export const LEFT_OUT_FILES: readonly string[] = [
  'zod/v4/core/json-schema-processors.js',
  'zod/v4/core/to-json-schema.js',
  // Node has both of these checksums.
  `${SMITHY}/checksum/crc32/Crc32Js.js`,
  `${SMITHY}/checksum/sha256/Sha256Js.js`,
  `${SMITHY}/config/config-resolver/regionConfig/getInstanceMetadataRegion.js`,
  `${SMITHY}/retry/util-retry/AdaptiveRetryStrategy.js`,
]

const PHONE_METADATA = 'libphonenumber-js/metadata.max.json'

/** Files of which bundles contain parts, and that none of their modules imports. */
export const PARTLY_BUNDLED: readonly string[] = [`node_modules/${PHONE_METADATA}`]

/** The registration of an error of DynamoDB that no call of items has: the class of a registered error is in each bundle. */
const ADMINISTRATIVE_ERROR =
  /^n0_registry\.registerError\(\w*(?:Backup|Export|GlobalTable|Import|Invalid|PointInTime|Policy|Replica[AN]|Table)\w*\$, \w+\);$/gm

/** The method of schemas that registers metadata. */
const METADATA = /meta\(\.\.\.args\) \{\n/

/** Leaves these files out of bundles. */
export const leaveOut: Plugin = {
  name: 'leave-out',
  setup: ({ onLoad }) => {
    const load = (path: string, contents: (file: string) => string) =>
      onLoad({ filter: new RegExp(`/node_modules/${path.replaceAll('.', '\\.')}$`) }, (file) => ({
        contents: contents(file.path),
      }))
    for (const [path, code] of Object.entries(REPLACED_FILES)) load(path, () => code)
    for (const path of LEFT_OUT_FILES) load(path, (file) => throwingExports(path, readFileSync(file, 'utf8')))
    // A client sends its version as part of the user agent.
    onLoad({ filter: /\/@aws-sdk\/client-\w+\/package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8'))
      return { contents: JSON.stringify({ version }), loader: 'json' }
    })
    load('@aws-sdk/client-dynamodb/dist-es/schemas/schemas_0.js', (file) =>
      readFileSync(file, 'utf8').replaceAll(ADMINISTRATIVE_ERROR, ''),
    )
    // Only the API document reads metadata of schemas. A schema with metadata is a copy of one without.
    load('zod/v4/classic/schemas.js', (file) =>
      readFileSync(file, 'utf8').replace(METADATA, 'meta() {\n        return this;\n'),
    )
    load(`${PHONE_METADATA}.js`, (file) => parsedOnDemand(readFileSync(file.replace(/\.js$/, ''), 'utf8')))
  },
}

const EXPORT = /^export (?:(?:const|(?:async )?function|class) (\w+)|\{ ([^}]+) \})/gm

function throwingExports(path: string, code: string): string {
  const names = [...code.matchAll(EXPORT)].flatMap(
    ([, name, list = '']) => name ?? list.match(/\w+(?=,| *$)/g) ?? [],
  )
  return `function leftOut() { throw new Error('${path} is left out of bundles.') }
export { ${names.map((name) => `leftOut as ${name}`).join(', ')} }`
}

/**
 * A module whose default export is the object of a JSON text. Its properties are parsed when the first of them is read: V8
 * takes several times as long to compile a literal, at every start.
 */
const parsedOnDemand = (json: string): string => `let parsed
const parse = () => (parsed ??= JSON.parse(String.raw\`${json}\`))
export default {
${Object.keys(JSON.parse(json))
  .map((name) => `get ${name}() { return parse().${name} },`)
  .join('\n')}
}`
