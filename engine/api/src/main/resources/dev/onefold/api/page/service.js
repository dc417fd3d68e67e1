// Requests to the service. The token is kept for this tab only, and sent as a header.

const TOKEN = 'onefold-token';
const OWNER = 'onefold-owner';
const SILENCE_MS_MAX = 30_000; // The service sends a sign of life more often.
const NOT_MODIFIED = 304;

/** An answer that is no success, or none at all. */
export class Problem extends Error {
  constructor(status, kind, detail, pauseMs = null) {
    super(detail);
    this.status = status;
    this.kind = kind;
    this.pauseMs = pauseMs; // Until it is asked again, where the service says that.
  }
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export function hasToken() {
  return sessionStorage.getItem(TOKEN) !== null;
}

export function forgetToken() {
  sessionStorage.removeItem(TOKEN);
}

/**
 * JSON whose numbers are texts: a total may have more digits than a number of JavaScript. Texts are passed over by hand,
 * because a regular expression fails on one of ten megabytes, and a record may be that long.
 */
export function exactJson(text) {
  const next = /"|-?\d[\d.eE+-]*/g;
  const parts = [];
  let from = 0;
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    if (found[0] === '"') {
      next.lastIndex = endOfText(text, next.lastIndex);
    } else {
      parts.push(text.slice(from, found.index), `"${found[0]}"`);
      from = next.lastIndex;
    }
  }
  parts.push(text.slice(from));
  return JSON.parse(parts.join(''));
}

/** Behind the quote that ends a text of JSON. */
function endOfText(text, from) {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') {
      slashes += 1;
    }
    if (slashes % 2 === 0) {
      return at + 1;
    }
  }
  return text.length;
}

/** The path of a pipeline's route, with parameters; a parameter that is null is left out. */
export function path(pipeline, route, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) {
      query.append(name, value);
    }
  }
  const text = query.toString();
  return `/v1/${encodeURIComponent(pipeline)}/${route}${text === '' ? '' : `?${text}`}`;
}

async function ask(target, { method = 'GET', body, signal, headers = {} } = {}) {
  const token = sessionStorage.getItem(TOKEN);
  if (token !== null) {
    headers.Authorization = `Bearer ${token}`;
  }
  let response;
  try {
    response = await fetch(target, { method, body, signal, headers, cache: 'no-store', credentials: 'omit' });
  } catch (e) {
    throw e.name === 'AbortError' ? e : new Problem(0, 'CONNECTION', 'The service does not answer.');
  }
  if (!response.ok && response.status !== NOT_MODIFIED) {
    throw await problem(response);
  }
  return response;
}

async function problem(response) {
  try {
    const json = await response.json();
    const pause = Number(response.headers.get('Retry-After') ?? NaN);
    return new Problem(response.status, json.kind, json.detail, Number.isNaN(pause) ? null : pause * 1000);
  } catch {
    return new Problem(response.status, 'UNKNOWN', `The service answered with status ${response.status}.`);
  }
}

/** The text of an answer. */
export async function text(target, options) {
  return textOf(await ask(target, options));
}

async function textOf(response) {
  try {
    return await response.text();
  } catch (e) {
    throw e.name === 'AbortError' ? e : new Problem(0, 'CONNECTION', 'The answer of the service broke off.');
  }
}

/** The JSON of an answer. */
export async function json(target, options) {
  return (await owned(target, options)).answer;
}

/**
 * The JSON of an answer, and which start of the service has given it. Numbers of letters and batches are of one start: a
 * request about them sends it back, and is refused after another start.
 */
export async function owned(target, options) {
  const response = await ask(target, options);
  return { answer: exactJson(await textOf(response)), owner: response.headers.get(OWNER) };
}

/** The header of a request about something that a start of the service has named. */
export function of(owner) {
  return owner === null ? {} : { [OWNER]: owner };
}

/** An answer with its tag, and when the service made it; `data` is null if it is the one of `tag` still. */
export async function tagged(target, tag, options) {
  const response = await ask(target, { ...options, headers: tag === null ? {} : { 'If-None-Match': tag } });
  const data = response.status === NOT_MODIFIED ? null : exactJson(await textOf(response));
  return { tag: response.headers.get('ETag') ?? tag, data, date: new Date(response.headers.get('Date') ?? NaN) };
}

/** Gives each server-sent event to `take` until the stream ends or is aborted. EventSource could send no token. */
export async function events(target, take, signal) {
  const silence = new AbortController();
  const response = await ask(target, { signal: AbortSignal.any([signal, silence.signal]) });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let timer;
  try {
    for (;;) {
      // A connection may end without a word, for example while a computer sleeps.
      timer = setTimeout(() => silence.abort(new Problem(0, 'CONNECTION', 'The service is silent.')), SILENCE_MS_MAX);
      const { value, done } = await reader.read();
      clearTimeout(timer);
      if (done) {
        return;
      }
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop();
      blocks.forEach((block) => takeBlock(block, take));
    }
  } catch (e) {
    throw e.name === 'AbortError' || e instanceof Problem
      ? e
      : new Problem(0, 'CONNECTION', 'The connection to the service broke off.');
  } finally {
    clearTimeout(timer);
  }
}

function takeBlock(block, take) {
  const data = [];
  let name = 'message';
  for (const line of block.split('\n')) {
    if (line.startsWith('data: ')) {
      data.push(line.slice(6));
    } else if (line.startsWith('event: ')) {
      name = line.slice(7);
    }
  }
  if (data.length > 0) {
    take(name, exactJson(data.join('\n')));
  }
}
