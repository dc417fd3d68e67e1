// Batches: how many are in which state, and those that wait for a person.
import { html, nothing } from './lit-html.js';
import { bytes, clock, count, exact } from './format.js';
import { AWAY, failed, live } from './live.js';
import { json, of, owned, path } from './service.js';
import { changed, say, state } from './state.js';

const SHOWN = 50;
const WAITING = ['in doubt', 'put aside'];
const SURE_MS = 700; // A second click that comes sooner is half of a double click.

const batches = fresh();
let run = 0; // The pipeline that is shown; what comes of an earlier one is passed over.

function fresh() {
  return {
    list: null,
    owner: null, // The start of the service that the numbers are of.
    seen: null,
    problem: null,
    sure: null, // {number, at}: the batch of which a person has said once that it was delivered.
    isBusy: false,
  };
}

/** Forgets what is shown. */
export function reset() {
  run += 1;
  Object.assign(batches, fresh());
}

/** Lists batches again when something has changed. */
export async function look() {
  const summary = live.status?.batches;
  const now = JSON.stringify([summary ?? null, live.owner]);
  if (summary === undefined || now === batches.seen || batches.isBusy || state.lost !== null) {
    return;
  }
  batches.seen = now;
  await attempt(async () => {
    const { answer, owner } = await owned(path(state.place.pipeline, 'batches/list', { open: true, limit: SHOWN }));
    return () => Object.assign(batches, { list: answer.batches, owner });
  }, batches.problem);
}

/** @param problem that is to be read also when this has gone well */
async function attempt(action, problem = null) {
  const mine = run;
  batches.isBusy = true;
  try {
    const take = await action();
    if (mine !== run) {
      return;
    }
    take();
    batches.problem = problem;
  } catch (e) {
    if (mine !== run) {
      return;
    }
    if (e.status === 0 || e.status === 401) {
      failed(e);
    }
    if (AWAY.has(e.status) || e.kind === 'OWNER_CHANGED') {
      batches.seen = null;
    }
    batches.problem = e.message;
  }
  batches.isBusy = false;
  changed();
}

async function act(route, parameters, text) {
  batches.problem = null;
  await attempt(async () => {
    await json(path(state.place.pipeline, `batches/${route}`, parameters), { method: 'POST', headers: of(batches.owner) });
    return () => {
      Object.assign(batches, { seen: null, sure: null });
      say(text);
    };
  });
}

/** The content of a batch that was delivered is deleted, so a person says it twice. */
function delivered(number) {
  if (batches.sure?.number !== number) {
    batches.sure = { number, at: performance.now() };
    changed();
  } else if (performance.now() - batches.sure.at >= SURE_MS) {
    act(`${number}/settle`, { how: 'delivered' }, `Batch ${number} counts as delivered.`);
  }
}

/** A key that is held presses a button again and again. */
function once(event) {
  if (event.repeat) {
    event.preventDefault();
  }
}

/** The section; nothing if the pipeline makes no batches. */
export function view() {
  const summary = live.status?.batches;
  if (summary === undefined) {
    return nothing;
  }
  return html`
    <section class="wide" aria-labelledby="batches">
      <h2 id="batches">Batches</h2>
      <dl class="facts">
        <dt>Open</dt><dd>${count(summary.open_records, 'record')}${summary.open_since ? `, since ${clock(summary.open_since)}` : ''}</dd>
        <dt>Sealed</dt><dd>${exact(summary.sealed)}</dd>
        <dt>Done</dt><dd>${exact(summary.done)}</dd>
        <dt>Waiting</dt><dd>${exact(summary.waiting)}</dd>
        <dt>Delivering</dt><dd>${exact(summary.delivering)}</dd>
        <dt>In doubt</dt><dd>${exact(summary.in_doubt)}</dd>
        <dt>Put aside</dt><dd>${exact(summary.put_aside)}</dd>
      </dl>
      ${summary.held_up_by === undefined ? nothing : html`<p class="bad" role="alert">Batch ${summary.held_up_by} holds up those behind it.</p>`}
      ${batches.problem === null ? nothing : html`<p class="bad" role="alert">${batches.problem}</p>`}
      <p class="buttons"><button ?disabled=${summary.open_records === '0'}
        @click=${() => act('seal', {}, 'The open batch is sealed.')}>Seal the open batch now</button></p>
      ${batches.list === null || batches.list.length === 0 ? html`<p class="note">All sealed batches are delivered.</p>` : table()}
    </section>`;
}

function table() {
  return html`<div class="scroll" tabindex="0" role="group" aria-labelledby="batches"><table>
    <thead><tr><th scope="col">Batch</th><th scope="col">State</th><th scope="col" class="number">Records</th>
      <th scope="col" class="number">Size</th><th scope="col">Sealed</th><th scope="col">What to do</th></tr></thead>
    <tbody>${batches.list.map((each) => html`<tr><th scope="row">${each.number}</th>
      <td>${each.state}${each.attempts === '0' ? '' : `, ${count(each.attempts, 'attempt')}`}${each.reason ? `: ${each.reason}` : ''}</td>
      <td class="number">${exact(each.records)}</td><td class="number">${bytes(each.bytes)}</td><td>${clock(each.sealed)}</td>
      <td>${WAITING.includes(each.state) ? actions(each.number) : nothing}</td></tr>`)}</tbody>
  </table></div>`;
}

function actions(number) {
  return html`<span class="buttons">
    <button aria-label=${`Try batch ${number} again`} @click=${() => act(`${number}/release`, {}, `Batch ${number} is tried again.`)}>Try again</button>
    <button aria-label=${batches.sure?.number === number ? `Yes, batch ${number} was delivered` : `Batch ${number} was delivered`}
      @keydown=${once} @click=${() => delivered(number)}>${batches.sure?.number === number ? 'Yes, it was delivered' : 'Was delivered'}</button></span>`;
}
