import { basename, extname } from 'node:path'
import { ERROR_KEYS, type ErrorKey, errorEntry } from '../api/error-catalogue.ts'
import {
  type ApiDocument,
  type Endpoint,
  endpointsOf,
  exampleOf,
  type Operation,
  type Response,
  resolve,
} from '../openapi/read-document.ts'
import { fieldList, fieldNames, folded, parameterList } from './fields.ts'
import { REMEDIES } from './remedies.ts'
import {
  BASE_URL,
  CREDENTIAL,
  curlSample,
  pythonSample,
  requestOf,
  type Sent,
  typescriptSample,
} from './samples.ts'

/** A page of the documentation. Its HTML is made from its Markdown. */
export type Page = {
  /** The address below `/docs`, such as `guides/booking`; empty for the first page. */
  readonly path: string
  readonly title: string
  /** The heading of the page in the navigation. */
  readonly group: string
  readonly markdown: string
  /** Method and path, in the navigation and for the search. */
  readonly endpoint?: { readonly method: string; readonly path: string }
  /** Names of what is sent and returned, and keys of errors, for the search. Only endpoints and events have them, and samples. */
  readonly terms?: Readonly<Record<'fields' | 'returned' | 'errors', readonly string[]>>
}

/** Files that are pages, in the order of the navigation. They are in docs/, unless {@link FILES_ELSEWHERE} has them. */
export const DOCUMENT_PAGES: Readonly<Record<string, readonly string[]>> = {
  'Get started': [
    'guides/quickstart',
    'guides/booking',
    'guides/messages',
    'guides/webhooks',
    'guides/keeping-a-copy',
  ],
  Guides: [
    'guides/clinic-system',
    'guides/pages-and-search',
    'guides/revenue',
    'guides/errors-and-idempotency',
    'guides/testing',
    'guides/going-live',
    'coming-from-wioclinic',
  ],
  Clients: ['clients/typescript', 'clients/python', 'clients/mcp'],
  Details: ['api', 'rate-limits', 'messages', 'webhooks', 'import', 'retention', 'changelog'],
}

/** Pages whose file is not in docs/, with their title in the navigation. */
const FILES_ELSEWHERE: Readonly<Record<string, { readonly file: string; readonly title: string }>> = {
  'clients/typescript': { file: 'shared/clients/typescript/README.md', title: 'TypeScript client' },
  'clients/python': { file: 'shared/clients/python/README.md', title: 'Python client' },
  'clients/mcp': { file: 'shared/clients/mcp/README.md', title: 'Tools for assistants' },
}

/** The file of each page that is a file, by its path in the project. */
const PAGE_FILES: ReadonlyMap<string, string> = new Map(
  Object.values(DOCUMENT_PAGES)
    .flat()
    .map((path) => [path, FILES_ELSEWHERE[path]?.file ?? `docs/${path}.md`]),
)

/** Errors that this many operations share are folded on the page of an operation. */
const COMMON_ERROR_OPERATIONS = 20

/** If a body has more lines, the fields of its objects are folded. */
const MAX_BODY_LINES = 20

/** If an endpoint has more parameters, fields and errors, the fields of its response are folded. */
const MAX_LINES_BEFORE_RESPONSE = 8

/** The folder of docs/ whose files are served as they are. */
export const EXAMPLES = 'examples'

/** All pages, in the order of the navigation. `read` returns the text of a file of the project. */
export function docsPages(document: ApiDocument, read: (name: string) => string): Page[] {
  const endpoints = endpointsOf(document.paths)
  const files = Object.entries(DOCUMENT_PAGES).flatMap(([group, names]) =>
    names.map((path) => filePage(path, group, read, endpoints)),
  )
  const uses = endpoints.flatMap(({ operation }) => Object.keys(errorsOf(document, operation)))
  const isCommon = (key: string) => uses.filter((one) => one === key).length >= COMMON_ERROR_OPERATIONS
  const reference = document.tags.flatMap(({ name }) =>
    endpoints
      .filter(({ operation }) => operation.tags[0] === name)
      .map((endpoint) => endpointPage(document, endpoint, isCommon)),
  )
  const events = endpointsOf(document.webhooks).map((event) => eventPage(document, event))
  const pages = [overview(document, reference, events), ...files, ...reference, ...events, errorsPage()]
  return pages.map((page) => ({ ...page, markdown: withLinks(page, reference) }))
}

/** The Markdown of a page, in which a method and a path are a link to the page of the endpoint. */
const withLinks = ({ path, markdown }: Page, reference: readonly Page[]): string =>
  markdown.replace(/(?<!^#.*)(?<!\[)`([A-Z]+) (\/[^`?]*)[^`\n]*`/gm, (code, method, route) => {
    const page = reference.find(({ endpoint }) => endpoint?.method === method && endpoint?.path === route)
    return page && page.path !== path ? `[${code}](${relative(path, page.path)})` : code
  })

/**
 * A page that is a file. A line that is only a link to an example is followed by the example. Links to files that are
 * neither pages nor examples become text.
 */
function filePage(
  path: string,
  group: string,
  read: (name: string) => string,
  endpoints: readonly Endpoint[],
): Page {
  const source = PAGE_FILES.get(path) ?? ''
  const pageOf = new Map([...PAGE_FILES].map(([page, file]) => [file, page]))
  const text = read(source)
  const hasVariables = text.includes('export API=')
  const markdown = text
    .replace(/<!--.*?-->\n?/gs, '')
    .replace(/^```sh\n(.*?)\n```$/gms, (_block, command: string) =>
      shellBlock(command, endpoints, hasVariables),
    )
    .replace(/^\[.+\]\(\S*examples\/(\S+)\)$/gm, (link, name: string) =>
      [
        link,
        '',
        ...fence(extname(name).slice(1), read(`docs/${EXAMPLES}/${name}`).trimEnd(), basename(name)),
      ].join('\n'),
    )
    .replace(
      /\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)/g,
      (_link, label: string, target: string, hash = '') => {
        const file = new URL(target, `http://project/${source}`).pathname.slice(1)
        const served = pageOf.get(file) ?? /^docs\/(examples\/.+\.\w+)$/.exec(file)?.[1]
        return target.startsWith('/') || served === undefined
          ? label
          : `[${label}](${relative(path, served)}${hash})`
      },
    )
  const title = FILES_ELSEWHERE[path]?.title ?? /^# (.+)$/m.exec(markdown)?.[1] ?? path
  return { path, title, group, markdown }
}

/** The root of the server, relative to a page: a stage or a custom domain may precede both. */
export const rootOf = (path: string): string => '../'.repeat(path === '' ? 0 : path.split('/').length)

/** The address of a page, relative to another. */
export const relative = (from: string, to: string): string => `${rootOf(from)}docs${to && `/${to}`}`

/**
 * A block of a guide, with the address and the credential of the reader, unless the guide has variables for them. A single
 * request is shown in all languages.
 */
function shellBlock(command: string, endpoints: readonly Endpoint[], hasVariables: boolean): string {
  const { endpoint, sent } = requestOf(command, endpoints) ?? {}
  if (endpoint)
    return samples(endpoint, sent, hasVariables ? command : undefined)
      .join('\n')
      .trimEnd()
  const own = command
    .replace(/\$\{\w+:-(.+?)\}/g, "'$1'")
    .replace(/\$API\b|http:\/\/127\.0\.0\.1:3000\/api\/developer\/v1/g, BASE_URL)
    .replace(/\$CREDENTIAL\b|ck_\.\.\.:cs_\.\.\./g, CREDENTIAL)
  return fence('sh', own).join('\n').trimEnd()
}

/** A request in all languages. */
const samples = (endpoint: Endpoint, sent?: Sent, command = curlSample(endpoint, sent)): string[] => [
  ...fence('sh', command),
  ...fence('ts', typescriptSample(endpoint, sent)),
  ...fence('python', pythonSample(endpoint, sent)),
]

/** What integrators build, on the first page: the guide, its name and what it does. */
const CARDS = [
  ['guides/booking', 'Book', 'List free slots, book them, and move or cancel appointments.'],
  ['guides/messages', 'Remind', 'Send SMS and emails, and see whether they arrived.'],
  ['guides/keeping-a-copy', 'Sync', 'Copy records, and keep the copy up to date.'],
  ['guides/webhooks', 'Receive', 'Get changes as signed webhooks when they happen.'],
] as const

/** The endpoint of the first request: it needs no scope and has a short response. */
const FIRST_REQUEST = 'get-clinic'

function overview(document: ApiDocument, reference: readonly Page[], events: readonly Page[]): Page {
  const item = (path: string, title: string, text: string) => `- [${title}](${relative('', path)}) ${text}`
  const first = reference.find(({ path }) => path === `reference/${FIRST_REQUEST}`)
  const [blocks = ''] = /```sh.*?(?=^## )/ms.exec(first?.markdown ?? '') ?? []
  return {
    path: '',
    title: 'Clinic Developer API',
    group: 'Get started',
    markdown: [
      '# Clinic Developer API',
      '',
      "JSON over HTTP for third-party software that works with a clinic's data. `npm start` prints a credential, or the clinic's operator issues one. Paste it above, and the samples use it.",
      '',
      `- Base address \`${BASE_URL}\``,
      `- Header of each request \`Authorization: Developer ${CREDENTIAL}\``,
      '',
      blocks.trim(),
      '',
      '## What do you build?',
      '',
      ...CARDS.map(([path, title, text]) => `- **[${title}](${relative('', path)})** ${text}`),
      '',
      'New here? Start with the [quickstart](docs/guides/quickstart). Before real patients: [going live](docs/guides/going-live).',
      '',
      '## Reference',
      '',
      ...document.tags.flatMap(({ name, description = '' }) => {
        const page = [...reference, ...events].find(({ group }) => group === name)
        return page ? [item(page.path, name, description)] : []
      }),
      item('errors', 'Errors', 'What each error means, and what to do.'),
      '',
    ].join('\n'),
  }
}

/** The page for addresses that do not exist. It is one level below `/docs`. */
export const NOT_FOUND: Page = {
  path: '404',
  title: 'Page not found',
  group: '',
  markdown:
    '# Page not found\n\nSearch at the top of the page, start with the [quickstart](../docs/guides/quickstart), or go to the [first page](../docs).\n',
}

function endpointPage(document: ApiDocument, endpoint: Endpoint, isCommon: (key: string) => boolean): Page {
  const { method, path, operation } = endpoint
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation
  const sent = parameters
    .map((parameter) => resolve(document, parameter))
    .filter(({ deprecated }) => !deprecated)
  const body = requestBody?.content['application/json']?.schema
  const [status = '', success] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? []
  const returned = success?.content?.['application/json']?.schema
  const examples = errorsOf(document, operation)
  const errors = Object.keys(examples) as ErrorKey[]
  const ownErrors = errors.filter((key) => !isCommon(key))
  const section = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? ['', `## ${title}`, '', ...lines] : []
  const parametersIn = (title: string, place: string) => {
    const parameters = sent.filter((one) => one.in === place)
    return section(title, parameterList(document, parameters))
  }
  const openBody = body ? fieldList(document, body) : []
  const bodyFields =
    body && openBody.length > MAX_BODY_LINES ? fieldList(document, body, { openLevels: 1 }) : openBody
  // What a caller sends comes first: the response is next to it as an example.
  const openLevels = sent.length + bodyFields.length + ownErrors.length > MAX_LINES_BEFORE_RESPONSE ? 1 : 2
  const place = `reference/${operationId}`
  return {
    path: place,
    title: summary,
    group: operation.tags[0] ?? '',
    endpoint: { method, path },
    terms: {
      fields: [...sent.map(({ name }) => name), ...(body ? fieldNames(document, body) : [])],
      returned: returned ? fieldNames(document, returned) : [],
      errors,
    },
    markdown: [
      `# ${summary}`,
      '',
      `\`${method} ${path}\``,
      '',
      description,
      '',
      ...samples(endpoint),
      ...(success ? responseSamples(status, success) : []),
      ...parametersIn('Path', 'path'),
      ...parametersIn('Query', 'query'),
      ...parametersIn('Headers', 'header'),
      ...section('Body', bodyFields),
      ...section('Response', returned ? fieldList(document, returned, { openLevels, isReturned: true }) : []),
      ...section('Errors', errorTable(place, ownErrors, examples)),
      ...folded('Errors of most endpoints', errorTable(place, errors.filter(isCommon))),
      '',
    ].join('\n'),
  }
}

/** All examples: an email, for example, is accepted with other fields than an SMS. */
function responseSamples(status: string, response: Response): string[] {
  const title = `${status} ${response.description}`
  const examples = Object.entries(examplesOf(response))
  if (examples.length === 0) return fence('json', '', title)
  return examples.flatMap(([name, { value }]) =>
    fence('json', JSON.stringify(value, null, 2), examples.length > 1 ? `${title} (${name})` : title),
  )
}

function eventPage(document: ApiDocument, { path: name, operation }: Endpoint): Page {
  const body = operation.requestBody?.content['application/json']?.schema
  return {
    path: `events/${name}`,
    title: name,
    group: 'Events',
    terms: { fields: [], returned: body ? fieldNames(document, body) : [], errors: [] },
    markdown: [
      `# ${name}`,
      '',
      // It begins with the summary.
      operation.description ?? '',
      '',
      'A delivery is a POST with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.',
      '',
      ...fence('ts', VERIFICATION.ts),
      ...fence('python', VERIFICATION.python),
      ...fence('json', JSON.stringify(exampleOf(operation.requestBody?.content), null, 2), 'Delivered body'),
      '## Fields',
      '',
      ...(body ? fieldList(document, body, { isReturned: true }) : []),
      '',
    ].join('\n'),
  }
}

/** How a receiver verifies a delivery. */
const VERIFICATION = {
  ts: `import { verifyWebhook } from 'clinic-developer-client'

// \`body\` is the request's raw body.
const event = await verifyWebhook({ headers: request.headers, body, secret })`,
  python: `from clinic_developer import verify_webhook

# \`body\` is the request's raw body.
event = verify_webhook(body, request.headers, secret)`,
}

function errorsPage(): Page {
  const byStatus = ERROR_KEYS.toSorted((one, other) => errorEntry(one).status - errorEntry(other).status)
  return {
    path: 'errors',
    title: 'Errors',
    group: 'Details',
    markdown: [
      '# Errors',
      '',
      'The body of an error is `{"error", "message", "details"}`. `error` is the code, and `message` is a translation key, `errors.developer_api.` and the key below. [errors.json](../errors.json) has the English texts, ready for translation.',
      '',
      ...errorTable('errors', byStatus).map((row) => row.replace(/\[(`\w+`)\]\(\S+\)/, '$1')),
      '',
    ].join('\n'),
  }
}

/** An example of each error of an operation by its key, by status. */
const errorsOf = (document: ApiDocument, { responses }: Operation): ReturnType<typeof examplesOf> => {
  const failed = Object.entries(responses).filter(([status]) => status >= '400')
  return Object.assign({}, ...failed.map(([, response]) => examplesOf(resolve(document, response))))
}

const examplesOf = ({ content }: Response) => content?.['application/json']?.examples ?? {}

const errorTable = (
  from: string,
  keys: readonly ErrorKey[],
  examples: ReturnType<typeof examplesOf> = {},
): string[] =>
  keys.length === 0
    ? []
    : [
        '| status | key | what to do |',
        '| --- | --- | --- |',
        ...keys.map((key) => {
          const { status, text } = errorEntry(key)
          const [item] = (examples[key]?.value as { details?: object[] } | undefined)?.details ?? []
          const names = Object.keys(item ?? {}).map((name) => `\`${name}\``)
          // Most only name a field.
          const details = names.length > 1 ? ` In \`details\`: ${names.join(', ')}.` : ''
          return `| ${status} | [\`${key}\`](${relative(from, 'errors')}#${key}) | ${text} **${REMEDIES[key]}**${details} |`
        }),
      ]

const fence = (language: string, code: string, title = ''): string[] => [
  `\`\`\`${language}${title && ` ${title}`}`,
  code,
  '```',
  '',
]
