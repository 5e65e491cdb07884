/** What a map of import files inherits from the one that it extends. */
import { foldedName } from './field-names.ts'
import type { ColumnMap, EntityMap } from './map-schema.ts'

/** Both maps as one. The own entries override those of the base. */
export function extendedMap(base: ColumnMap, { extends: _, ...own }: ColumnMap): ColumnMap {
  const entities = Object.entries(own.entities).map(([name, map]) => {
    const inherited = base.entities[name]
    return [name, inherited ? extendedEntity(inherited, map) : map] as const
  })
  return { ...base, ...own, entities: { ...base.entities, ...Object.fromEntries(entities) } }
}

function extendedEntity(base: EntityMap, own: EntityMap): EntityMap {
  // A field has a column or a constant.
  const columns = without(base.columns, Object.keys(own.constants))
  const constants = without(base.constants, Object.keys(own.columns))
  return {
    ...base,
    ...own,
    columns: { ...columns, ...own.columns },
    constants: { ...constants, ...own.constants },
    ignore: base.ignore === 'others' || own.ignore === 'others' ? 'others' : [...base.ignore, ...own.ignore],
    values: {
      ...base.values,
      ...Object.fromEntries(
        Object.entries(own.values).map(([field, texts]) => [
          field,
          { ...without(base.values[field] ?? {}, Object.keys(texts), foldedName), ...texts },
        ]),
      ),
    },
  }
}

function without<Value>(
  entries: Readonly<Record<string, Value>>,
  names: readonly string[],
  comparable: (name: string) => string = (name) => name,
): Record<string, Value> {
  const removed = new Set(names.map(comparable))
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !removed.has(comparable(name))))
}
