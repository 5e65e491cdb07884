import { DatabaseSync } from 'node:sqlite'

/**
 * A database for what may not fit in memory. SQLite deletes its file when it opens it, so that nothing of a patient stays behind. It is
 * never committed: only this process reads it.
 */
export function temporaryDatabase(schema: string): DatabaseSync {
  const db = new DatabaseSync('')
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000')
  db.exec(schema)
  db.exec('BEGIN')
  return db
}
