// Requests to the service. The token is kept for this tab only, and sent as a header.

const TOKEN = 'onefold-token';

/** An answer that is no success, or none at all. */
export class Problem extends Error {
  constructor(status, kind, detail) {
    super(detail);
    this.status = status;
    this.kind = kind;
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

/** JSON whose numbers are texts: a total may have more digits than a number of JavaScript. */
export function exactJson(text) {
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (found) =>
    found.startsWith('"') ? found : `"${found}"`));
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
  if (!response.ok) {
    throw await problem(response);
  }
  return response;
}

async function problem(response) {
  try {
    const json = await response.json();
    return new Problem(response.status, json.kind, json.detail);
  } catch {
    return new Problem(response.status, 'UNKNOWN', `The service answered with status ${response.status}.`);
  }
}

/** The text of an answer. */
export async function text(target, options) {
  const response = await ask(target, options);
  try {
    return await response.text();
  } catch (e) {
    throw e.name === 'AbortError' ? e : new Problem(0, 'CONNECTION', 'The answer of the service broke off.');
  }
}

/** The JSON of an answer. */
export async function json(target, options) {
  return exactJson(await text(target, options));
}

/** Gives each server-sent event to `take` until the stream ends or is aborted. EventSource could send no token. */
export async function events(target, take, signal) {
  const response = await ask(target, { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
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
