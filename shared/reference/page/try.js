/** A form that sends the request of an endpoint's page, loaded on the first click. */
import { highlight } from '../highlight.ts'
import { curlSample, pythonSample, typescriptSample } from '../samples.ts'
import { element } from './element.js'

const SAMPLES = { sh: curlSample, ts: typescriptSample, python: pythonSample }

/** Adds the form below the button. */
export async function open(button, { api, docs }) {
  if (document.querySelector('.try')) return
  const form = element('form', { className: 'try' }, 'Loading…')
  button.closest('figure').after(form)
  const description = await (await fetch(`${docs}../openapi.json`)).json()
  const request = requestOf(description, location.pathname.split('/').at(-1))
  const [status, result] = [element('p', { role: 'status' }), element('div')]
  const context = { form, description, request, status, result, docs, base: new URL(api, location).href }
  form.replaceChildren(...inputsOf(request), element('button', { className: 'send' }, 'Send'), status, result)
  // Another request needs another key.
  form.addEventListener('input', ({ target }) => {
    const key = form.querySelector('[name=idempotency-key]')
    if (key && target !== key) key.value = crypto.randomUUID()
    showSamples(context)
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    sendRequest(context)
  })
  document.querySelector('#credential').addEventListener('change', () => {
    context.filled = fill(context)
  })
  context.filled = fill(context)
  // Only what changes nothing is sent at once.
  await context.filled
  if (credential() !== '' && request.method === 'GET' && status.textContent === '') await sendRequest(context)
}

/** Writes what the form sends into the samples of the page, unless its body is being typed. */
function showSamples(context) {
  const fields = fieldsOf(context)
  const filled = (place) => fields.filter(({ dataset, value }) => dataset.place === place && value !== '')
  const typed = (text) => (/^(\d{1,9}|true|false)$/.test(text) ? JSON.parse(text) : text)
  try {
    const sent = {
      ids: filled('path').map(({ value }) => value),
      query: Object.fromEntries(filled('query').map(({ name, value }) => [name, typed(value)])),
      body: filled(undefined).map(({ value }) => JSON.parse(value))[0],
    }
    for (const [language, sample] of Object.entries(SAMPLES))
      document.querySelector(`figure.${language} code`).innerHTML = highlight(
        sample(context.request, sent),
        language,
      )
    fillSamples()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
}

/** What the document says about an operation: path, method, parameters and the sample of its body. */
function requestOf({ paths, components }, id) {
  const [[path, method, operation]] = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, one]) => (one.operationId === id ? [[path, method, one]] : [])),
  )
  const { parameters = [], requestBody } = operation
  const [example] = Object.values(requestBody?.content['application/json'].examples ?? {})
  const resolved = parameters.map(({ $ref, ...own }) =>
    $ref ? components.parameters[$ref.split('/').at(-1)] : own,
  )
  return {
    path,
    method: method.toUpperCase(),
    operation,
    sample: example && fromToday(JSON.stringify(example.value, null, 2)),
    parameters: resolved.filter(({ deprecated, name }) => !deprecated && name !== 'if-none-match'),
  }
}

/** An input for each parameter, and one text area for the body. */
function inputsOf({ parameters, sample }) {
  const inputs = parameters.map(({ name, in: place, required = false, example, schema }) => {
    const input = element('input', { name, required, autocomplete: 'off', spellcheck: false })
    input.dataset.place = place
    // An optional range of dates would leave out most records.
    if (required || (place === 'query' && schema.format !== 'date'))
      input.value = fromToday(String(example ?? ''))
    if (name === 'idempotency-key') input.value = crypto.randomUUID()
    return input
  })
  const labels = (list) => list.map((input) => element('label', {}, element('code', {}, input.name), input))
  const others = labels(inputs.filter(({ value }) => value === ''))
  const optional = element('details', {}, element('summary', {}, 'Optional parameters'), ...others)
  const body = element('textarea', { name: '', value: sample ?? '', spellcheck: false, ariaLabel: 'Body' })
  body.rows = body.value.split('\n').length
  return [
    ...labels(inputs.filter(({ value }) => value !== '')),
    ...(others.length > 0 ? [optional] : []),
    ...(sample === undefined ? [] : [body]),
  ]
}

const fieldsOf = ({ form }) => [...form.querySelectorAll('input, textarea')]

async function get(context, path) {
  const headers = { authorization: `Developer ${credential()}` }
  const response = await fetch(context.base + path, { headers })
  context.date = response.headers.get('date')
  return response.ok ? (await response.json()).data : []
}

/** Replaces ids of the samples by ids of the clinic's records, active ones if there are. */
async function fill(context) {
  const { paths } = context.description
  context.status.textContent =
    credential() === ''
      ? 'Paste a credential at the top of the page: the fields get ids and dates of its clinic.'
      : ''
  if (credential() === '') return
  for (const [path, { get: one }] of Object.entries(paths)) {
    const list = path.replace(/\/\{id\}$/, '')
    const example = one?.parameters?.find(({ in: place }) => place === 'path')?.example
    const fields = fieldsOf(context).filter(({ value }) => example && value.includes(example))
    if (list === path || fields.length === 0 || !paths[list]?.get) continue
    // Of appointments, those that an action is possible for: the earliest are due.
    const status = context.request.path.endsWith('/reopen') ? 'completed' : 'scheduled'
    const isAction = list === '/appointments' && context.request.method !== 'GET'
    const records = await get(context, `${list}?limit=20${isAction ? `&order=asc&status=${status}` : ''}`)
    const id = records.find(({ is_active }) => is_active !== false)?.id ?? ''
    if (id === '') context.status.textContent = `GET ${list} returned no records: enter an id.`
    for (const field of fields) field.value = field.value.replaceAll(example, id)
  }
  await fillSlot(context)
  showSamples(context)
}

/** Replaces a day and a start by the first free slot of the doctor, who is set by now, in the month from the server's date on. */
async function fillSlot(context) {
  const fields = fieldsOf(context)
  const text = fields.map(({ name, value }) => (name ? `"${name}": "${value}"` : value)).join('\n')
  const sent = (name) => new RegExp(`"${name}": "?([^",\n]+)`).exec(text)?.[1]
  const day = sent('appointment_date') ?? sent('date')
  if (!day || !sent('doctor_id') || !context.date) return
  const after = (days) => new Date(Date.parse(context.date) + days * 86_400_000).toISOString().slice(0, 10)
  const search = new URLSearchParams({ date: after(0), date_to: after(30), limit: 1 })
  for (const name of ['doctor_id', 'room_id', 'duration']) if (sent(name)) search.set(name, sent(name))
  const [slot] = await get(context, `/availability?${search}`)
  for (const field of fields)
    if (slot)
      field.value = field.value
        .replace(day, slot.date)
        .replace(`"start_time": "${sent('start_time')}"`, `"start_time": "${slot.start_time}"`)
}

/** Asks once before a request that changes records of real patients. */
async function isAllowed(context) {
  const { clinic } = context.request.method === 'GET' || context.isConfirmed ? {} : await get(context, '/me')
  context.isConfirmed ||=
    !clinic || clinic.is_test || confirm(`${clinic.name} is not a test clinic. Send this request to it?`)
  return context.isConfirmed
}

async function sendRequest(context) {
  const { request, status, result, base } = context
  await context.filled
  if (!(await isAllowed(context))) return
  const headers = { authorization: `Developer ${credential()}` }
  const search = new URLSearchParams()
  let { path } = request
  let body
  for (const { name, value, dataset } of fieldsOf(context)) {
    if (dataset.place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (dataset.place === undefined) body = value
    else if (value !== '' && dataset.place === 'query') search.set(name, value)
    else if (value !== '') headers[name] = value
  }
  if (body !== undefined) headers['content-type'] = 'application/json'
  status.textContent = 'Sending…'
  const start = performance.now()
  try {
    const url = `${base}${path}${search.size > 0 ? `?${search}` : ''}`
    const response = await fetch(url, { method: request.method, headers, body, cache: 'no-store' })
    const text = await response.text()
    status.textContent = `${response.status} ${response.statusText} in ${Math.round(performance.now() - start)} ms`
    result.replaceChildren(...shownResponse(context, response, text))
  } catch (error) {
    status.textContent = `No response: ${error.message}`
    result.replaceChildren()
  }
}

/** The headers and the body, and the page about an error. */
function shownResponse({ docs, status }, { headers }, text) {
  const isJson = /json/.test(headers.get('content-type'))
  const body = isJson ? JSON.parse(text) : {}
  const [, key] = /^errors\.developer_api\.(\w+)$/.exec(body.message) ?? []
  if (key) status.append(' ', element('a', { href: `${docs}errors#${key}` }, 'What to do'))
  const names = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  const copy = element('button', { type: 'button', className: 'copy' }, 'Copy')
  const code = element('code', {}, text)
  if (isJson) code.innerHTML = highlight(JSON.stringify(body, null, 2), 'json')
  const block = element('pre', { tabIndex: 0, role: 'region', ariaLabel: 'Response' }, code)
  return [
    element('details', {}, element('summary', {}, 'Headers'), element('pre', {}, names)),
    ...(text === '' ? [] : [element('figure', {}, element('figcaption', {}, 'Response', copy), block)]),
  ]
}
