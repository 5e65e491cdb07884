/** A map that extends another. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readColumnMap } from '../../../../bin/clinic/import/maps/column-map.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import { blocksOf } from '../../../support/documentation.ts'
import { NOW } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const folder = temporaryFolder()

const entities = importEntities({} as Table, () => NOW)

/** Writes maps by their names, and reads the first. */
function read(maps: Record<string, object | string>) {
  for (const [name, content] of Object.entries(maps)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return readColumnMap(join(folder, Object.keys(maps)[0] as string), entities)
}

const BASE = {
  encoding: 'windows-1252',
  dates: ['D.M.YYYY'],
  country: 'DE',
  entities: {
    patients: {
      columns: { external_id: ['Nr.', 'Nummer'], last_name: 'Name', notes: 'Notiz' },
      ignore: ['Ort'],
      values: { gender: { m: 'male', w: 'female' }, is_active: { ja: 'true' } },
      constants: { first_name: '-', is_active: true },
      dates: ['YYYY.MM.DD'],
    },
    doctors: { columns: { full_name: 'Arzt' }, ignore: 'others' },
  },
}

describe('a map that extends another', () => {
  it('has its entries, which its own override', () => {
    const own = {
      extends: 'base.json',
      dates: ['M/D/YYYY'],
      entities: {
        patients: {
          columns: { external_id: 'Kartei', first_name: 'Vorname' },
          ignore: ['Land'],
          values: { gender: { w: 'other', d: 'other' } },
          constants: { notes: 'Altbestand' },
        },
        doctors: { ignore: ['Titel'], country: 'AT' },
        rooms: { columns: { name: 'Raum' } },
      },
    }
    expect(read({ 'own.json': own, 'base.json': BASE })).toEqual({
      encoding: 'windows-1252',
      dates: ['M/D/YYYY'],
      country: 'DE',
      entities: {
        patients: {
          columns: {
            external_id: { column: ['Kartei'] },
            last_name: { column: ['Name'] },
            first_name: { column: ['Vorname'] },
          },
          ignore: ['Ort', 'Land'],
          values: { gender: { m: 'male', w: 'other', d: 'other' }, is_active: { ja: 'true' } },
          constants: { notes: 'Altbestand', is_active: true },
          dates: ['YYYY.MM.DD'],
        },
        doctors: {
          columns: { full_name: { column: ['Arzt'] } },
          ignore: 'others',
          values: {},
          constants: {},
          country: 'AT',
        },
        rooms: { columns: { name: { column: ['Raum'] } }, ignore: [], values: {}, constants: {} },
      },
    })
  })

  it('translates texts in any case', () => {
    const base = { entities: { patients: { values: { gender: { M: 'male', W: 'female' } } } } }
    const own = { extends: 'base.json', entities: { patients: { values: { gender: { m: 'unknown' } } } } }
    expect(read({ 'own.json': own, 'base.json': base }).entities.patients?.values).toEqual({
      gender: { m: 'unknown', W: 'female' },
    })
  })

  it('extends one that ships with the tool by its name, and needs no entities', () => {
    const { entities: german, ...formats } = readColumnMap('german', entities)
    const own = read({ 'german.json': { extends: 'german', country: 'AT' } })
    expect(own).toEqual({ ...formats, country: 'AT', entities: german })
  })

  it('extends a file next to it, which extends another', () => {
    const maps = {
      'own.json': { extends: 'shared/practice.json' },
      'shared/practice.json': { extends: '../base.json', country: 'AT' },
      'base.json': BASE,
    }
    expect(read(maps)).toMatchObject({ country: 'AT', encoding: 'windows-1252' })
  })
})

const own = (extending: string) => ({ 'own.json': { extends: extending } })

it.each<[string, Record<string, object | string>, string]>([
  [
    'an unknown name',
    own('germn'),
    'own.json: extends germn: there is no such file, nor a map of this name. Maps that ship with the tool: cliniko, german, turkish.',
  ],
  ['an unknown file', own('none.json'), 'own.json: extends none.json: there is no such'],
  ['a name that is no text', { 'own.json': { extends: 3 } }, 'own.json: extends must be text'],
  ['a map that extends itself', own('./own.json'), 'own.json extends itself: own.json, own.json'],
  [
    'a cycle',
    { 'a.json': { extends: 'b.json' }, 'b.json': { extends: 'c.json' }, 'c.json': { extends: 'b.json' } },
    'b.json extends itself: a.json, b.json, c.json, b.json',
  ],
  [
    'a mistake in the map that is extended',
    { ...own('base.json'), 'base.json': { entities: { horses: {} } } },
    'base.json: entities: unknown entity "horses"',
  ],
  ['a map without entities', { ...own('base.json'), 'base.json': {} }, 'base.json: entities must'],
  ['a name that no file can have', own(`${'n'.repeat(300)}.json`), 'n.json: there is no such file'],
  ['a folder', own('.'), 'own.json: extends .: there is no such file'],
])('a map is rejected with what is wrong and where: %s', (_, maps, message) => {
  expect(() => read(maps)).toThrow(message)
})

it('is rejected if it extends itself through a link', () => {
  const place = join(folder, 'linked')
  mkdirSync(place)
  symlinkSync('.', join(place, 'here'))
  expect(() => read({ 'linked/own.json': { extends: 'here/own.json' } })).toThrow(
    'own.json extends itself: own.json, own.json',
  )
})

it('the map of docs/import.md is one', () => {
  const [block] = blocksOf('docs/import.md').filter(({ language }) => language === 'json')
  expect(read({ 'own.json': block?.text ?? '' })).toMatchObject({ country: 'AT', encoding: 'windows-1252' })
})
