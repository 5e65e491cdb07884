import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { type ApiDocument, endpointsOf } from '../../../shared/openapi/read-document.ts'
import { pythonSample, typescriptSample } from '../../../shared/reference/samples.ts'

it('has TypeScript samples of all endpoints that compile with the client', () => {
  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as ApiDocument
  const folder = mkdtempSync(resolve('node_modules/samples-'))
  try {
    for (const endpoint of endpointsOf(paths))
      writeFileSync(join(folder, `${endpoint.operation.operationId}.mts`), typescriptSample(endpoint))
    const compilerOptions = {
      incremental: false,
      noEmit: true,
      typeRoots: [resolve('node_modules/@types')],
      paths: { 'clinic-developer-client': [resolve('shared/clients/typescript/client.ts')] },
    }
    const config = { extends: resolve('tsconfig.json'), compilerOptions, include: ['*.mts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const compiler = spawnSync('node_modules/.bin/tsc', ['--project', folder], { encoding: 'utf8' })
    expect(compiler).toMatchObject({ stdout: '', status: 0 })
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 60_000)

it('has samples that print the response', () => {
  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as ApiDocument
  for (const endpoint of endpointsOf(paths).filter(({ method }) => method !== 'DELETE')) {
    expect(typescriptSample(endpoint)).toMatch(/\nconsole\.log\(response\)$/)
    expect(pythonSample(endpoint)).toMatch(/\nprint\(response\.data\)$/)
  }
})
