/** The fenced code blocks of README.md, AGENTS.md, CONTRIBUTING.md and docs/, and how each is tested. */
import { globSync, readFileSync } from 'node:fs'

const QUICKSTART = 'docs/guides/quickstart.md'

/** Documents in the order in which to read them: later ones change the demo clinic, but nothing that earlier ones show. */
export const DOCUMENTS = [
  'README.md',
  'AGENTS.md',
  'CONTRIBUTING.md',
  QUICKSTART,
  ...globSync('docs/**/*.md', { exclude: [QUICKSTART] }).sort(),
]

/** Its own tests run its samples. Other documents may repeat them. */
const PYTHON_CLIENT = 'shared/clients/python/README.md'

export type Block = {
  readonly file: string
  readonly line: number
  readonly language: string
  readonly text: string
  /**
   * `program`: shell commands or TypeScript, run against a stack. `response`: the JSON that the shell block before it
   * prints. `operator`: commands of the operator tool, run on a clinic. `verbatim`: a tested sample of a client's README. `diagram`,
   * `folders`: checked for consistency. `not run`: marked as such, or of {@link NOT_LOCAL}. `untested`: none of these, which is an
   * error.
   */
  readonly kind:
    | 'program'
    | 'response'
    | 'operator'
    | 'verbatim'
    | 'diagram'
    | 'folders'
    | 'not run'
    | 'untested'
}

const FENCED = /^([ ]*)```(\w*)\n([\s\S]*?)^\1```$/gm
const OPERATOR_COMMAND = 'npm run clinic -- '

/** Why shell blocks that begin with these words are not run. */
const NOT_LOCAL: Readonly<Record<string, string>> = {
  aws: 'calls AWS',
  npx: 'deploys to AWS',
  cat: "changes the person's configuration of the AWS CLI",
  cp: 'replaces a tracked file',
}

/** The blocks of a document, in order. */
export function blocksOf(file: string): Block[] {
  const markdown = readFileSync(file, 'utf8')
  const blocks: Block[] = []
  for (const { index, 1: indent = '', 2: language = '', 3: indented = '' } of markdown.matchAll(FENCED)) {
    const before = markdown.slice(0, index)
    const text = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    const marker = /<!-- ([^>]*) -->\n *$/.exec(before)?.[1] ?? ''
    const kind = kindOf({ language, text, marker, previous: blocks.at(-1) })
    blocks.push({ file, line: before.split('\n').length, language, text, kind })
  }
  return blocks
}

function kindOf({
  language,
  text,
  marker,
  previous,
}: Pick<Block, 'language' | 'text'> & { marker: string; previous: Block | undefined }): Block['kind'] {
  if (/^not run: \S/.test(marker)) return 'not run'
  if (marker === 'folders') return 'folders'
  if (language === 'mermaid') return 'diagram'
  if (language === 'sh' && NOT_LOCAL[text.split(' ', 1)[0] ?? '']) return 'not run'
  if (language === 'sh')
    return text.split('\n').every((line) => line === '' || line.startsWith(OPERATOR_COMMAND))
      ? 'operator'
      : 'program'
  if (language === 'ts') return 'program'
  if (language === 'python' && readFileSync(PYTHON_CLIENT, 'utf8').includes(text)) return 'verbatim'
  if (language === 'json' && previous?.language === 'sh' && previous.kind === 'program') return 'response'
  return 'untested'
}

/** The operator commands of a block, each as its arguments without quotes and without the deployed stack. */
export const operatorCommands = ({ text }: Block): string[][] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [command = ''] = line.slice(OPERATOR_COMMAND.length).split(/\s#\s/)
      const words = command.replace(/--stack \S+ /, '').match(/"[^"]*"|'[^']*'|\S+/g) ?? []
      return words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))
    })

/** Whether a value has the shape of an example, in which `"…"` stands for any value or any further fields or items. */
export function matchesExample(example: unknown, value: unknown): boolean {
  if (example === '…') return true
  if (typeof example !== 'object' || example === null || typeof value !== 'object' || value === null)
    return example === value
  if (Array.isArray(example) !== Array.isArray(value)) return false
  const { '…': more, ...fields } = example as Record<string, unknown>
  const others = Object.keys(value).filter((name) => !(name in fields))
  return (
    (others.length === 0 || more === '…') &&
    Object.entries(fields).every(
      ([name, field]) => name in value && matchesExample(field, (value as Record<string, unknown>)[name]),
    )
  )
}
