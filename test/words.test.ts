/** Names, comments, documentation and public texts are plain English. These phrases are not, and have a standard term. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const PHRASES: [pattern: RegExp, standard: string][] = [
  [/\bkept answers?\b|KeptAnswer/i, 'stored response'],
  [/\b(is|are|was|were) told\b|\b(tells?|told) of\b/i, 'is reported, gets an error, concerns'],
  [/\bhears? of\b|\bheard out\b/i, 'is notified, is drained'],
  [/\blast entered first\b|\bEnters? an? \w+|\bentry of a patient\b/, 'create, most recently added first'],
  [/\b(uncontested|abreast|allTried|eachAbreast)\b/, 'retryOnConflict, mapConcurrent, settleAll'],
  // The stored attribute 'owed' keeps its name.
  [/(?<!')\bow(e|es|ed|ing)\b|\bdebts?\b/i, 'mark stale, refresh'],
  [/\bhappenings?\b|\btype (Occurrence|Way)\b/i, 'EventDraft, ProviderFeedback, DeliveryQueue'],
  [/\b(MOST|LONGEST|FEWEST)_/, 'MAX_, MIN_'],
  [/\bmend(s|ed|ing)?\b/i, 'repair'],
  [/\b(see|sees|seen) to\b/i, 'process'],
  [/\banew\b/i, 'again'],
  [/\bstands\b(?! for\b)/i, 'is, is stored'],
  [/\bgives\b(?! (access|up)\b)/i, 'returns'],
  [/\bwhoever\b|\bnobody\b|\bsomebody\b/i, 'name the actor'],
  [/\b(is|are|was) at it\b/i, 'already claimed'],
  [/\bthat (is|are) none\b|\b(is|are) no (endpoint|UUID)\b/i, 'malformed, unknown, unmatched'],
  [/\bhow-manieth\b/i, 'sequence number'],
  [/\bwithout a word\b|\bhas spoken\b/i, 'claim expired, outcome known'],
  [/\bso many at a time\b/i, 'at most N at a time'],
  [/\bHolds the transaction\b/, 'requires the item to be'],
  [/PARTITIONS_BUT_|\bwith_\b/, 'EXCEPT, options'],
  [/: '(Made|The answer)\.'/, 'Created, OK'],
  [/\bWhatever is wrong with\b/i, 'any problem with'],
  [/\bown length\b/i, "the clinic's setting"],
  [/\bthe clock skips\b/i, 'skipped by a daylight saving change'],
  [/\btakes? no offence\b/i, 'ignore'],
  [/\b(placeOf|RecordKinds?|addFindCommand)\b/, 'openClinic, ResourceCommands, addGlobalFind'],
  [/\b(import-ids|import-links|import-origin|imported-state|ImportOrigin)\b/, 'external-ids/, Provenance'],
  [/\b(ImportJudge|judge|judged)\b(?!\.ts)/i, 'check, OverwritePolicy.check'],
  [
    /\b(ClinicLeaving|requireStaying|barDeletionOf|withDeletionBarrier)\b/,
    'ClinicBeingDeleted, requireNotDeleting',
  ],
  [/refusal|\brefus(es|ing)\b|(?<!connection |-)\brefused\b(?!-)/, 'rejected (input), denied (rights)'],
  [/\bany more\b/, 'no longer'],
  [/\b(goes|go) on\b(?! to\b)/, 'continues'],
  [/\bWho can\b(?!.*\?)/, 'anyone who can'],
  [/\b(webhook|endpoint) (is|was) (inactive|deactivated)\b/, 'disabled'],
  [/\b(scheduled|upcoming|overlapping|completed|first|next|your) visits?\b/i, 'appointment'],
  [/\bStamp(s|ed)?\b|\bstamp(s|ed)?\(|\.stamp\b/, 'WithUpdatedAt, updatedAt'],
]

/** Phrases that only texts for integrators and operators must avoid: names in tests may use them. */
const PUBLIC_PHRASES: [pattern: RegExp, standard: string][] = [
  [/\banswer(s|ed)?\b/i, 'response, returns'],
  [/(?<![\w-])[Rr]eceivers?\b/, 'webhook endpoint'],
]

const PUBLIC = [
  'README.md',
  'CONTRIBUTING.md',
  // The document of the last release is a copy.
  ...globSync('docs/**/*.{md,json}', { exclude: ['docs/openapi.released.json'] }),
]

const FILES = [
  ...PUBLIC,
  ...globSync('{bin,functions,infra,shared,test}/**/*.{ts,mjs,js,css,md}', {
    exclude: [
      '**/node_modules/**',
      '**/dist/**',
      'test/words.test.ts',
      'shared/clients/typescript/schema.ts',
      // Letters of the demo clinics to their patients.
      'bin/demo/texts.ts',
    ],
  }),
]

const found = (files: readonly string[], phrases: typeof PHRASES): string[] =>
  files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        phrases.flatMap(([pattern, standard]) => {
          const phrase = pattern.exec(line)?.[0]
          return phrase === undefined ? [] : [`${file}:${at + 1}: "${phrase}", rather: ${standard}`]
        }),
      ),
  )

it('uses standard terms in names, comments and texts', () => {
  expect(found(FILES, PHRASES)).toEqual([])
})

it('uses standard terms in the documentation and the API document', () => {
  expect(found(PUBLIC, PUBLIC_PHRASES)).toEqual([])
})
