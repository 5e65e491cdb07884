/** Loads a converter, and checks what its functions return. */
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { quoted, suggestion } from '../../../../shared/domain/closest-name.ts'
import { digestOf, isNamedAfter } from '../files/import-paths.ts'
import { ConverterMistake, ImportFileError, Problem } from '../files/problems.ts'
import type { Converter } from './converter.ts'

export type Entities = readonly {
  readonly name: string
  readonly columns: readonly string[]
  readonly required: readonly string[]
}[]

/** A converter, and the file that it is in. */
export type LoadedConverter = Converter & {
  readonly path: string
  /** The SHA-256 of the file. */
  readonly digest: string
}

export type Converted = { readonly entity: string; readonly fields: Readonly<Record<string, unknown>> }

/** What a converter has returned, as records. @throws ConverterMistake for what no import has */
export function recordsOf(result: unknown, entities: Entities, currencies: ReadonlySet<string>): Converted[] {
  if (result instanceof Promise) throw new ConverterMistake('the function returns a promise')
  return Object.entries(result ?? {}).flatMap(([name, given]) => {
    const entity = entities.find((one) => one.name === name)
    if (!entity) {
      const names = entities.map((one) => one.name)
      throw new ConverterMistake(`there is no entity ${quoted([name])}${suggestion(name, names)}`)
    }
    return [given]
      .flat()
      .filter((record) => record != null)
      .map((record) => ({ entity: name, fields: fieldsOf(record, entity, currencies) }))
  })
}

function fieldsOf(
  record: unknown,
  { name, columns }: Entities[number],
  currencies: ReadonlySet<string>,
): Record<string, unknown> {
  if (typeof record !== 'object') throw new ConverterMistake(`a record of ${name} is no object`)
  const fields = Object.fromEntries(Object.entries(record ?? {}).filter(([, value]) => value !== undefined))
  const valid = ['external_id', ...columns]
  for (const field of Object.keys(fields))
    if (!valid.includes(field))
      throw new ConverterMistake(`${name} has no field ${quoted([field])}${suggestion(field, valid)}`)
  if (currencies.size === 0 || !columns.includes('currency')) return fields
  const read = [...currencies].join(' and ')
  if (fields.currency == null && currencies.size > 1)
    throw new ConverterMistake(`${name} need a currency, as the amounts of the row are in ${read}`)
  const currency = fields.currency ?? read
  if (!currencies.has(String(currency)))
    throw new Problem(`currency is not ${read}, in which the amounts are read`)
  return { ...fields, currency }
}

/** Messages of the engine that have no values. */
const SAFE =
  /^(?:Cannot (?:read|set) properties of (?:null|undefined)|[\w.]+ is not (?:a function|defined|iterable))/

/** Where a converter has failed. Other messages than its own mistakes can have values of the row. */
export function failureText(error: unknown, path: string): string {
  if (!(error instanceof Error)) return `${basename(path)}: threw something that is no error`
  const stack = error.stack ?? ''
  const at = stack.indexOf(`${path}:`)
  const position = at < 0 ? '' : `:${/^\d+/.exec(stack.slice(at + path.length + 1))?.[0]}`
  const text =
    error instanceof ConverterMistake
      ? error.message
      : [error.name, ...(SAFE.exec(error.message) ?? [])].join(': ')
  return `${basename(path)}${position}: ${text}`
}

/** @throws ImportFileError unless the file is a module that exports a converter */
export async function loadConverter(path: string): Promise<LoadedConverter> {
  if (!existsSync(path)) throw new ImportFileError(`${path}: there is no such file`)
  const digest = await digestOf(path)
  let loaded: unknown
  try {
    loaded = (await import(pathToFileURL(path).href)).default
  } catch (error) {
    throw new ImportFileError(`${path}: cannot be loaded: ${(error as Error).message}`)
  }
  const { files } = (loaded ?? {}) as Partial<Converter>
  if (files) return { files, path, digest }
  throw new ImportFileError(`${path}: must have a default export: export default converter({ ... })`)
}

/** The function with the longest name that a file's name begins with. @throws ImportFileError if there is none */
export function converterOf(file: string, { files, path }: LoadedConverter): Converter['files'][string] {
  const [found] = Object.entries(files)
    .filter(([name]) => isNamedAfter(basename(file), name))
    .sort(([a], [b]) => b.length - a.length)
  if (found) return found[1]
  throw new ImportFileError(
    `${file}: no function of ${basename(path)} takes the file: its names are ${quoted(Object.keys(files))}`,
  )
}
