// Sends a request of the API reference: a form of its parameters, the price before the call, the answer after
// it.
import { printBytes, printEuro } from '../../api/render/print.ts';
import { isSignedIn, sendCall } from '../account/offer.ts';
import { createElement } from '../lib/dom.ts';
import { fillRequest, type ReferenceModel, type ReferenceOperation, requestAddress } from './model.ts';

/** Response headers that the page shows, in order. */
const HEADERS = [
  'content-type',
  'x-charge-eur',
  'x-balance-eur',
  'x-dataset-version',
  'x-next-cursor',
  'ratelimit',
  'retry-after',
  'etag',
  'x-request-id',
];
/** Most bytes that the page reads, and most characters that it shows. */
const LIMITS = { bytes: 1_000_000, characters: 40_000 };

/** Reads a body up to the limit. */
async function readBody(response: Response): Promise<{ bytes: Uint8Array; complete: boolean }> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (value !== undefined) {
      chunks.push(value);
      length += value.length;
    }
    if (done || length >= LIMITS.bytes) {
      if (!done) await reader?.cancel();
      const bytes = new Uint8Array(length);
      let at = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, at);
        at += chunk.length;
      }
      return { bytes, complete: done };
    }
  }
}

/** Fills `result`, and returns the summary: status, time, size. */
async function showAnswer(response: Response, result: HTMLElement, start: number): Promise<string> {
  const { bytes, complete } = await readBody(response);
  const milliseconds = Math.round(performance.now() - start);
  const type = response.headers.get('content-type') ?? '';
  const isText = /json|text|xml|markdown|csv/.test(type);
  let text = isText ? new TextDecoder().decode(bytes) : `Binary answer of type ${type}.`;
  if (/json/.test(type) && complete && !/ndjson/.test(type))
    try {
      text = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Shown as it is.
    }
  const isCut = !complete || text.length > LIMITS.characters;
  const list = createElement('dl', { className: 'try-headers' });
  for (const name of HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) list.append(createElement('dt', {}, name), createElement('dd', {}, value));
  }
  const body = createElement('pre', { tabIndex: 0 }, createElement('code', {}, text.slice(0, LIMITS.characters)));
  body.setAttribute('role', 'group');
  body.setAttribute('aria-label', 'Body of the answer');
  result.replaceChildren(
    list,
    body,
    ...(isCut ? [createElement('p', { className: 'small quiet' }, 'The body is longer; its beginning is shown.')] : []),
  );
  const size = `${complete ? '' : 'more than '}${printBytes(bytes.length)}`;
  return `${response.status} ${response.statusText} in ${milliseconds} ms, ${size}`;
}

/** What the panel reads from the page. */
interface Surroundings {
  dataset: () => string;
  slugs: (dataset: string) => Promise<string[]>;
}

/** The fields of a form, by name of the parameter. */
type Fields = Map<string, { input: HTMLInputElement | HTMLSelectElement; where: string; type: string }>;

/** One form at a time, below the button that opened it. */
export class TryPanel {
  readonly #model: ReferenceModel;
  readonly #page: Surroundings;
  #form: HTMLFormElement | null = null;
  #call: AbortController | null = null;

  constructor(model: ReferenceModel, page: Surroundings) {
    this.#model = model;
    this.#page = page;
  }

  /** The path of the account. */
  get #account(): string {
    return `${new URL(this.#model.base_url).pathname.replace(/\/$/, '')}/account`;
  }

  close(): void {
    this.#call?.abort();
    this.#form?.remove();
    this.#form = null;
  }

  /** Opens the form of an operation, filled with its example or with `parameters`. */
  async open(article: HTMLElement, parameters: Record<string, string> | null): Promise<void> {
    this.close();
    const name = article.dataset['operation'] ?? '';
    const operation = this.#model.operations[name]!;
    const dataset = this.#page.dataset();
    const request = operation.requests[operation.path.includes('{ds}') ? dataset : ''] ?? { parameters: {} };
    const needsRecord = JSON.stringify(request).includes('{slug}');
    const filled = fillRequest(request, dataset, needsRecord ? await this.#page.slugs(dataset) : []);
    const values: Record<string, unknown> = { ...(parameters ?? filled.parameters), ...filled.body };
    const form = createElement('form', { className: 'try' });
    const fields = fieldsOf(article, values, dataset);
    this.#form = form;
    this.#fill(form, fields, name);
    article.querySelector('.try-bar')?.after(form);
    form.querySelector<HTMLElement>('button[type="submit"]')?.focus({ preventScroll: true });
    form.scrollIntoView({ block: 'nearest' });
  }

  #fill(form: HTMLFormElement, fields: Fields, operationName: string): void {
    const operation = this.#model.operations[operationName]!;
    const rows = [...fields].map(([name, { input }]) => [input, createElement('label', {}, name, input)] as const);
    const isShown = (input: Element & { value: string }) => input.value !== '' || input.hasAttribute('required');
    const shown = rows.filter(([input]) => isShown(input)).map(([, label]) => label);
    const others = rows.filter(([input]) => !isShown(input)).map(([, label]) => label);
    const send = createElement('button', { type: 'submit', className: 'button' });
    const cancel = createElement('button', { type: 'button', className: 'button plain', hidden: true }, 'Cancel');
    const result = createElement('div', { className: 'try-result' });
    const status = createElement('p', { className: 'small', role: 'status' });
    const label = () => {
      send.textContent = this.#label(operation, fields);
    };
    form.append(
      createElement('h4', {}, 'Parameters'),
      ...(shown.length === 0 ? [createElement('p', { className: 'small quiet' }, 'None needed.')] : shown),
      ...(others.length === 0
        ? []
        : [createElement('details', {}, createElement('summary', {}, `${others.length} more`), ...others)]),
      createElement('p', { className: 'actions' }, send, cancel),
      status,
      result,
    );
    form.addEventListener('input', label);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (isPaid(operation) && !operation.previews && !isSignedIn()) {
        location.href = `${this.#account}?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`;
        return;
      }
      if (operation.method !== 'GET' && !isPaid(operation) && send.dataset['confirmed'] === undefined) {
        send.dataset['confirmed'] = '';
        send.textContent = `Confirm ${operation.method}: this changes data`;
        return;
      }
      delete send.dataset['confirmed'];
      void this.#send(operationName, fields, { send, cancel, status, result }).then(label);
    });
    cancel.addEventListener('click', () => this.#call?.abort());
    label();
  }

  /** EUR of the call; undefined: it has no price. */
  #cost({ price, unit }: ReferenceOperation, fields: Fields): number | undefined {
    const eur = price === null ? undefined : this.#model.prices[this.#page.dataset()]?.[price];
    const list = unit === 'call' ? '' : (fields.get(unit === 'id' ? 'ids' : unit)?.input.value ?? '');
    return eur === undefined ? undefined : eur * Math.max(1, list.split(',').filter(Boolean).length);
  }

  /** The button: what the call costs. */
  #label(operation: ReferenceOperation, fields: Fields): string {
    const cost = this.#cost(operation, fields);
    if (operation.condition !== null) return `Send: ${operation.condition}`;
    if (cost === undefined) return operation.method === 'GET' ? 'Send: free' : `Send ${operation.method}`;
    if (!isSignedIn() && operation.previews) return 'Send: free preview';
    return isSignedIn() ? `Send: ${printEuro(cost)}` : `Sign in to send: ${printEuro(cost)}`;
  }

  async #send(
    name: string,
    fields: Fields,
    {
      send,
      cancel,
      status,
      result,
    }: { send: HTMLButtonElement; cancel: HTMLElement; status: HTMLElement; result: HTMLElement },
  ): Promise<void> {
    const call = new AbortController();
    this.#call = call;
    send.disabled = true;
    cancel.hidden = false;
    status.textContent = 'Waiting for the answer…';
    const operation = this.#model.operations[name]!;
    const request = readFields(fields);
    const { ds = '', ...parameters } = request.parameters;
    const args = { ...parameters, ...request.body };
    const paidCall = {
      operation: name,
      dataset: ds,
      arguments: args,
      max_price_eur: this.#cost(operation, fields) ?? 0,
    };
    const start = performance.now();
    try {
      const response = await (isPaid(operation) && isSignedIn()
        ? sendCall(this.#account, paidCall, call.signal)
        : sendDirectly(operation, request, this.#model.base_url, call.signal));
      status.textContent = await showAnswer(response, result, start);
    } catch (error) {
      result.replaceChildren();
      status.textContent = call.signal.aborted ? 'Cancelled.' : `No answer: ${(error as Error).message}`;
    }
    send.disabled = false;
    cancel.hidden = true;
  }
}

/** Whether the session of the visitor pays the call, or their plan includes it. */
const isPaid = ({ access }: ReferenceOperation): boolean => access === 'paid' || access === 'plan';

/** Fields from the list of parameters of an operation, with values. */
function fieldsOf(article: HTMLElement, values: Record<string, unknown>, dataset: string): Fields {
  const fields: Fields = new Map();
  for (const row of article.querySelectorAll<HTMLElement>('[data-parameter]')) {
    const { parameter: name = '', in: where = '', type = '', values: list, fallback = '' } = row.dataset;
    const value = name === 'ds' ? dataset : (values[name] ?? '');
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const input =
      list === undefined
        ? createElement('input', { value: text, placeholder: fallback, autocomplete: 'off' })
        : createElement(
            'select',
            {},
            ...['', ...list.split(',')].map((option) =>
              createElement('option', { value: option, selected: option === text }, option),
            ),
          );
    if (row.dataset['required'] !== undefined) input.required = true;
    fields.set(name, { input, where, type });
  }
  const names = new Set(fields.keys());
  for (const [name, value] of Object.entries(values))
    if (!names.has(name)) {
      const input = createElement('input', { value: String(value), autocomplete: 'off' });
      fields.set(name, { input, where: 'query', type: 'string' });
    }
  return fields;
}

/** What the fields of a form contain, without empty ones. */
interface FormRequest {
  headers: Record<string, string>;
  parameters: Record<string, string>;
  body: Record<string, unknown>;
}

function readFields(fields: Fields): FormRequest {
  const request: FormRequest = { headers: {}, parameters: {}, body: {} };
  for (const [name, { input, where, type }] of fields) {
    const value = input.value.trim();
    if (value === '') continue;
    if (where === 'header') request.headers[name] = value;
    else if (where === 'body') request.body[name] = bodyValue(value, type);
    else request.parameters[name] = value;
  }
  return request;
}

/** Sends a request that is free. */
function sendDirectly(
  operation: ReferenceOperation,
  { headers, parameters, body }: FormRequest,
  base_url: string,
  signal: AbortSignal,
): Promise<Response> {
  const { path, query } = requestAddress(operation, parameters);
  const init: RequestInit = { method: operation.method, headers, credentials: 'omit', cache: 'no-store', signal };
  if (operation.method !== 'GET') {
    headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(body);
  }
  return fetch(`${base_url}${path}${query.size > 0 ? `?${query}` : ''}`, init);
}

/** A member of a JSON body: numbers and objects are parsed, anything else is text. */
function bodyValue(text: string, type: string): unknown {
  if (/^(number|integer|boolean|object|list)/.test(type))
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  return text;
}
