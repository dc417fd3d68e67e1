// What moves: the status each second, and how long records took each two seconds. Loss of the connection shows here
// first, because a stream that is silent may only have nothing to say.
import { Problem, owned, path, text } from './service.js';
import { changed, hasStatus, say, state } from './state.js';

const STATUS_MS = 1000;
const DELAY_MS = 2000;
const ANSWER_MS_MAX = 5000;
const RATE_MS = 20_000;
const POINTS_MAX = 120;
const HISTOGRAM = 'onefold_http_visible_seconds_bucket';

/** What is known of the pipeline that is shown. */
export const live = fresh();

function fresh() {
  return {
    status: null,
    owner: null, // The start of the service that has given it.
    statusAt: 0, // By the page's clock.
    rates: [], // {at, value}: records a second over the last 20 seconds.
    sourceRates: new Map(),
    delays: [], // {at, p50, p99, max}, of the records that came between two looks.
    looks: [],
    buckets: null,
  };
}

/** Answers that say nothing of what was asked: it is asked again. */
export const AWAY = new Map([[0, 'Connection lost'], [429, 'The service is busy'], [503, 'The service is busy or ends']]);

let run = 0;

/** Follows a pipeline; null follows none. */
export function follow(pipeline) {
  Object.assign(live, fresh());
  run += 1;
  if (pipeline !== null && hasStatus()) {
    repeat(run, STATUS_MS, () => lookAtStatus(pipeline));
    repeat(run, DELAY_MS, () => lookAtDelay(pipeline));
  }
}

async function repeat(mine, ms, look) {
  while (mine === run) {
    const began = performance.now();
    try {
      await look(mine);
    } catch (e) {
      if (mine === run) {
        failed(e); // Else it says nothing of the pipeline that is shown now.
      }
    }
    await new Promise((done) => setTimeout(done, Math.max(100, ms - (performance.now() - began))));
  }
}

/** Notes why a request failed. */
export function failed(e) {
  if (e.name === 'AbortError') {
    return;
  }
  if (!(e instanceof Problem)) {
    throw e;
  }
  if (e.status === 401) {
    state.needsToken = true;
    state.tokenProblem = e.message;
  } else if (AWAY.has(e.status)) {
    const why = e.kind === 'NOT_YET' ? 'No record has come yet' : AWAY.get(e.status);
    if (state.lost === null) {
      state.lost = { since: performance.now(), why };
      say(`${state.lost.why}.`);
    }
    state.lost.why = why;
  } else {
    state.problem = e;
  }
  changed();
}

/** Notes that the service has answered. */
export function found() {
  if (state.lost !== null) {
    state.lost = null;
    say('Connected again.');
    changed();
  }
}

function withLimit() {
  return { signal: AbortSignal.timeout(ANSWER_MS_MAX) };
}

async function lookAtStatus(pipeline) {
  const mine = run;
  const { answer: status, owner } = await owned(path(pipeline, 'status'), withLimit());
  if (mine !== run) {
    return;
  }
  found();
  state.problem = null;
  live.status = status;
  live.owner = owner;
  live.statusAt = performance.now();
  note(Number(status.records), status.sources);
  changed();
}

function note(records, sources) {
  const at = performance.now();
  if (live.looks.length > 0 && records < live.looks.at(-1).records) {
    live.looks = []; // Another directory is served under this name.
  }
  live.looks.push({ at, records, sources: new Map(sources.map((each) => [each.source, Number(each.records)])) });
  while (live.looks.length > 2 && live.looks[1].at < at - RATE_MS) {
    live.looks.shift();
  }
  const first = live.looks[0];
  const elapsed = (at - first.at) / 1000;
  if (elapsed > 0) {
    add(live.rates, { at, value: (records - first.records) / elapsed });
    for (const [source, now] of live.looks.at(-1).sources) {
      live.sourceRates.set(source, (now - (first.sources.get(source) ?? 0)) / elapsed);
    }
  }
}

function add(points, point) {
  points.push(point);
  if (points.length > POINTS_MAX) {
    points.shift();
  }
}

async function lookAtDelay(pipeline) {
  const mine = run;
  const metrics = await text('/metrics', withLimit());
  if (mine !== run) {
    return;
  }
  const buckets = read(metrics, pipeline);
  const isSameStart = [...(live.buckets ?? [])].every(([bound, total]) => total <= (buckets.get(bound) ?? 0));
  if (live.buckets !== null && isSameStart) {
    const between = difference(live.buckets, buckets);
    if (between.count > 0) {
      add(live.delays, {
        at: performance.now(),
        p50: quantile(between, 0.5),
        p99: quantile(between, 0.99),
        max: quantile(between, 1),
      });
      changed();
    }
  }
  live.buckets = buckets;
}

/** How many requests took at most so long, by that time in seconds. */
function read(metrics, pipeline) {
  const buckets = new Map();
  const name = pipeline.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
  for (const line of metrics.split('\n')) {
    if (line.startsWith(`${HISTOGRAM}{`) && line.includes(`pipeline="${name}"`)) {
      const bound = /le="([^"]*)"/.exec(line)[1];
      buckets.set(bound === '+Inf' ? Infinity : Number(bound), Number(/\} (\S+)/.exec(line)[1]));
    }
  }
  return buckets;
}

function difference(before, now) {
  const bounds = [];
  let last = 0;
  for (const [bound, total] of [...now].sort((a, b) => a[0] - b[0])) {
    const upTo = total - (before.get(bound) ?? 0);
    bounds.push({ bound, count: upTo - last });
    last = upTo;
  }
  return { bounds, count: last };
}

/** The end of the bucket in which a quantile is: so long it took at most. */
function quantile({ bounds, count }, part) {
  let seen = 0;
  for (const each of bounds) {
    seen += each.count;
    if (each.count > 0 && seen >= count * part) {
      return each.bound;
    }
  }
  return Infinity;
}
