/** Runs in the browser without a build step, on the first click: a form that sends the request of an endpoint's page. */

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

/** Adds the form below the button, or hides it again. */
export async function open(button, { api, docs }) {
  const shown = document.querySelector('.try')
  if (shown) {
    shown.hidden = !shown.hidden
    return
  }
  const form = element('form', { className: 'try' }, 'Loading…')
  button.closest('p').after(form)
  const description = await (await fetch(`${docs}../openapi.json`)).json()
  const request = requestOf(description, location.pathname.split('/').at(-1))
  const status = element('p', { role: 'status' })
  const result = element('div')
  const context = { form, description, request, status, result, docs, base: new URL(api, location).href }
  const send = element('button', { className: 'send', textContent: 'Send' })
  form.replaceChildren(...inputsOf(request), send, status, result)
  // Another request needs another key.
  form.addEventListener('input', ({ target }) => {
    const key = form.querySelector('[name=idempotency-key]')
    if (key && target !== key) key.value = crypto.randomUUID()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    sendRequest(context)
  })
  const refill = () => {
    context.filled = fill(context)
    return context.filled
  }
  document.querySelector('#credential').addEventListener('change', refill)
  // Only what changes nothing is sent at once.
  if ((await refill()) && request.method === 'GET') await sendRequest(context)
}

/** What the document says about an operation: path, method, parameters and the sample of its body. */
function requestOf({ paths, components }, id) {
  for (const [path, item] of Object.entries(paths))
    for (const [method, { operationId, parameters = [], requestBody }] of Object.entries(item)) {
      if (operationId !== id) continue
      const [example] = Object.values(requestBody?.content['application/json'].examples ?? {})
      return {
        path,
        method: method.toUpperCase(),
        sample: example && JSON.stringify(example.value, null, 2),
        parameters: parameters
          .map(({ $ref, ...own }) => ($ref ? components.parameters[$ref.split('/').at(-1)] : own))
          .filter(({ deprecated, name }) => !deprecated && name !== 'if-none-match'),
      }
    }
}

/** An input for each parameter, and one text area for the body. */
function inputsOf({ parameters, sample }) {
  const inputs = parameters.map(({ name, in: place, required = false, example, schema }) => {
    const input = element('input', { name, required, autocomplete: 'off', spellcheck: false })
    input.dataset.place = place
    // An optional range of dates would leave out most records.
    const isSent = required || (place === 'query' && schema.format !== 'date')
    if (isSent) input.value = example ?? ''
    else input.placeholder = example ?? ''
    if (name === 'idempotency-key') input.value = crypto.randomUUID()
    return input
  })
  const labels = (list) =>
    list.map((input) => element('label', {}, element('code', { textContent: input.name }), input))
  const others = inputs.filter(({ value }) => value === '')
  const optional = element('details', {}, element('summary', {}, 'Optional parameters'), ...labels(others))
  const shown = [
    ...labels(inputs.filter(({ value }) => value !== '')),
    ...(others.length > 0 ? [optional] : []),
  ]
  if (sample === undefined) return shown
  const body = element('textarea', { name: '', value: sample, spellcheck: false, ariaLabel: 'Body' })
  body.rows = sample.split('\n').length
  return [...shown, body]
}

const fieldsOf = ({ form }) => [...form.querySelectorAll('input, textarea')]

async function get({ base }, path) {
  const response = await fetch(base + path, { headers: { authorization: `Developer ${credential()}` } })
  const body = response.ok ? await response.json() : {}
  return { date: response.headers.get('date'), data: body.data ?? [] }
}

/** Replaces ids of the samples by ids of the clinic's records, active ones if there are. Whether a credential is entered. */
async function fill(context) {
  const { description, status } = context
  status.textContent = ''
  if (credential() === '') {
    status.textContent =
      'Paste a credential at the top of the page: the fields get ids and dates of its clinic.'
    return false
  }
  for (const [path, { get: one }] of Object.entries(description.paths)) {
    const list = path.replace(/\/\{id\}$/, '')
    const example = one?.parameters?.find(({ in: place }) => place === 'path')?.example
    const fields = fieldsOf(context).filter(({ value }) => example && value.includes(example))
    if (list === path || fields.length === 0 || !description.paths[list]?.get) continue
    const { data } = await get(context, `${list}?limit=20`)
    const record = data.find(({ is_active }) => is_active !== false)
    for (const field of fields) if (record) field.value = field.value.replaceAll(example, record.id)
  }
  await fillSlot(context)
  return true
}

/** Replaces a day and a start by the first free slot of the doctor, who is set by now, in the month from the server's date on. */
async function fillSlot(context) {
  const fields = fieldsOf(context)
  const body = fields.find(({ type }) => type === 'textarea')
  const sent = body
    ? JSON.parse(body.value)
    : Object.fromEntries(fields.map(({ name, value }) => [name, value]).filter(([, value]) => value !== ''))
  const day = sent.appointment_date ?? sent.date
  if (day === undefined || sent.doctor_id === undefined) return
  const { date } = await get(context, '/clinic')
  const after = (days) => new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)
  const { doctor_id, room_id, duration } = sent
  const query = { doctor_id, room_id, duration, date: after(0), date_to: after(30), limit: 1 }
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value))
  const [slot] = (await get(context, `/availability?${search}`)).data
  if (!slot) return
  for (const field of body ? [body] : fields)
    field.value = field.value
      .replace(day, slot.date)
      .replace(`"start_time": "${sent.start_time}"`, `"start_time": "${slot.start_time}"`)
}

async function sendRequest(context) {
  const { request, status, result, base } = context
  await context.filled
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

/** The body with its page about an error, and the headers. */
function shownResponse({ docs, status }, { headers }, text) {
  const block = (title, content) => {
    const code = element(
      'pre',
      { tabIndex: 0, role: 'region', ariaLabel: title },
      element('code', {}, content),
    )
    const copy = element('button', { type: 'button', className: 'copy', textContent: 'Copy' })
    return element('figure', {}, element('figcaption', {}, element('span', {}, title), copy), code)
  }
  const isJson = /json/.test(headers.get('content-type'))
  const [, key] = (isJson && /^errors\.developer_api\.(\w+)$/.exec(JSON.parse(text).message)) || []
  if (key) status.append(' ', element('a', { href: `${docs}errors#${key}`, textContent: 'What to do' }))
  const names = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  return [
    ...(text === '' ? [] : [block('Response', isJson ? JSON.stringify(JSON.parse(text), null, 2) : text)]),
    element('details', {}, element('summary', {}, 'Headers'), block('Headers', names)),
  ]
}
