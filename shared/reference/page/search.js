/** The search, which the page loads when it is first used. Bundled with MiniSearch at synthesis. */
import MiniSearch from 'minisearch'
import { SEARCH_OPTIONS } from '../search.ts'

/** @param {string} index the index as JSON */
export function createSearch(index) {
  const search = MiniSearch.loadJSON(index, SEARCH_OPTIONS)
  return (text) => search.search(text).slice(0, 12)
}
