import { expect, it } from 'vitest'
import { GroupedTexts, groupText } from '../../../../../bin/clinic/import/files/grouped-texts.ts'

it('groups reasons that differ in the ids and times of other appointments alone, and shows neither', () => {
  const texts = new GroupedTexts()
  for (const [at, other] of [
    'appointment A 12 at 09:00',
    'appointment 1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b at 10:30',
    'hold c at 09:00',
  ].entries())
    texts.add(`the appointment would overlap ${other} of the same doctor; import`, at + 2)
  expect(texts.groups.map(groupText)).toEqual([
    '2 x the appointment would overlap appointment of the same doctor; import (lines 2 and 3)',
    '1 x the appointment would overlap hold of the same doctor; import (line 4)',
  ])
})
