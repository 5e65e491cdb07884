/** The names and words of languages that files of practice systems are in. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { foldedName } from '../files/field-names.ts'
import { readColumnMap } from './column-map.ts'
import type { Column, Sample } from './read-samples.ts'

export type Entity = {
  readonly name: string
  readonly columns: readonly string[]
  readonly required: readonly string[]
}

type Names = { readonly [field: string]: readonly string[] }

/** Names and words of a language: of files and columns by entity, and of values by field. */
export type Language = {
  readonly tag: string
  /** Where it is spoken. */
  readonly countries?: readonly string[]
  /** Whether last names come first. */
  readonly lastFirst?: boolean
  readonly titles?: readonly string[]
  readonly files?: Names
  /** Names of columns with ids by the entity that they are ids of: in its own files, and in those that refer to it. */
  readonly ids?: Names
  readonly values?: { readonly [field: string]: { readonly [text: string]: string | boolean } }
} & { readonly [entity: string]: Names | undefined }

const SHIPPED = { turkish: 'tr', german: 'de', cliniko: 'en' } as const

export const ENTITIES = ['doctors', 'treatments', 'patients', 'appointments', 'invoices', 'payments']

export function readLanguages(entities: readonly Entity[]): ReadonlyMap<string, Language> {
  const languages = new Map<string, Language>(
    Object.entries(JSON.parse(readFileSync(join(import.meta.dirname, 'known-names.json'), 'utf8'))).map(
      ([tag, language]) => [tag, withIds({ ...(language as object), tag } as Language, entities)],
    ),
  )
  for (const [map, tag] of Object.entries(SHIPPED)) {
    const language = { ...languages.get(tag) } as { [entity: string]: unknown }
    const values: { [field: string]: object } = { ...(language.values as object) }
    for (const [entity, { columns, values: texts }] of Object.entries(
      readColumnMap(map, entities).entities,
    )) {
      const known = language[entity] as Names | undefined
      const names = Object.entries(columns).flatMap(([field, source]) =>
        'column' in source ? [[field, [...source.column, ...(known?.[field] ?? [])]]] : [],
      )
      language[entity] = { ...known, ...Object.fromEntries(names) }
      for (const [field, meanings] of Object.entries(texts)) {
        const name = valueField(entity, field)
        values[name] = { ...meanings, ...values[name] }
      }
    }
    languages.set(tag, { ...language, values } as Language)
  }
  return languages
}

function withIds({ ids = {}, ...language }: Language, entities: readonly Entity[]): Language {
  const names = entities.map(({ name, columns }) => {
    const known = language[name] as Names | undefined
    const ofIds = Object.entries(ids).flatMap(([of, some]): [string, readonly string[]][] => {
      const field = of === name ? 'external_id' : `${of.slice(0, -1)}_external_id`
      const isOne = of === name || columns.includes(field)
      return isOne ? [[field, [...some, ...(known?.[field] ?? [])]]] : []
    })
    return known || ofIds.length > 0 ? [[name, { ...known, ...Object.fromEntries(ofIds) }]] : []
  })
  return { ...language, ...Object.fromEntries(names.flat()) }
}

/** Statuses of invoices have words of their own. */
const valueField = (entity: string, field: string): string =>
  entity === 'invoices' && field === 'status' ? 'invoices.status' : field

/** A name without accents, signs and spaces. */
export const plain = (name: string): string =>
  foldedName(name)
    .normalize('NFD')
    .replace(/ł/g, 'l')
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{N}%#]/gu, '')

/** How many columns of a file have names of a language. */
export function familiarity(language: Language, { columns }: Sample): number {
  const names = new Set(
    ENTITIES.flatMap((entity) => Object.values(language[entity] ?? {}).flat()).map((name) => plain(name)),
  )
  return columns.filter(({ name }) => names.has(plain(name))).length
}

/** The names of a field. */
const namesOf = (entity: string, field: string, languages: readonly Language[]): string[] => [
  plain(field),
  ...languages.flatMap((language) => language[entity]?.[field] ?? []).map(plain),
]

/** The columns that have exactly a name of a field, in the order of the names. */
export const columnsNamed = (
  entity: string,
  field: string,
  columns: readonly Column[],
  languages: readonly Language[],
): Column[] => [
  ...new Set(
    namesOf(entity, field, languages).flatMap((name) =>
      columns.filter((column) => plain(column.name) === name),
    ),
  ),
]

/** The columns that have a name of a field; if there are none, those whose names begin with one, or have it as a word. */
export function columnsFor(
  entity: string,
  field: string,
  columns: readonly Column[],
  languages: readonly Language[],
): Column[] {
  const found = columnsNamed(entity, field, columns, languages)
  if (found.length > 0) return found
  const all = namesOf(entity, field, languages)
  const long = all.filter((name) => name.length >= 6)
  const alike = columns.filter(({ name }) => long.some((known) => plain(name).startsWith(known)))
  if (alike.length > 0 || field === 'external_id') return alike
  const whole = new Set(all.filter((name) => name.length >= 3))
  return columns.filter(({ name }) => wordsIn(name).some((word) => whole.has(word)))
}

export const wordsIn = (name: string): string[] =>
  name
    .split(/[^\p{L}]+/u)
    .map(plain)
    .filter((word) => word.length >= 3)

/** The meanings of words in the values of a field. */
export function wordsOf(
  entity: string,
  field: string,
  languages: readonly Language[],
): Map<string, string | boolean> {
  const names = [valueField(entity, field), field]
  const entries = languages.flatMap(({ values }) =>
    names.flatMap((one) => Object.entries(values?.[one] ?? {})),
  )
  return new Map(entries.reverse().map(([word, meaning]) => [plain(word), meaning]))
}
