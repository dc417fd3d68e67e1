// Batches: how many are in which state, and those that wait for a person.
import { html, nothing } from './lit-html.js';
import { bytes, clock, count, exact } from './format.js';
import { failed, live } from './live.js';
import { json, path } from './service.js';
import { changed, say, state } from './state.js';

const SHOWN = 50;
const WAITING = ['in doubt', 'put aside'];

const batches = { list: null, seen: null, problem: null, isBusy: false };

/** Forgets what is shown. */
export function reset() {
  Object.assign(batches, { list: null, seen: null, problem: null, isBusy: false });
}

/** Lists batches again when something has changed. */
export async function look() {
  const summary = live.status?.batches;
  const now = JSON.stringify(summary ?? null);
  if (summary === undefined || now === batches.seen || batches.isBusy) {
    return;
  }
  batches.seen = now;
  await attempt(async () => {
    const { pipeline } = state.place;
    const answer = await json(path(pipeline, 'batches/list', { open: true, limit: SHOWN }));
    if (pipeline === state.place.pipeline) {
      batches.list = answer.batches;
    }
  });
}

async function attempt(action) {
  batches.isBusy = true;
  try {
    await action();
    batches.problem = null;
  } catch (e) {
    if (e.status === 0 || e.status === 401) {
      failed(e);
    }
    batches.problem = e.message;
  }
  batches.isBusy = false;
  changed();
}

async function act(route, parameters, text) {
  await attempt(async () => {
    await json(path(state.place.pipeline, `batches/${route}`, parameters), { method: 'POST' });
    batches.seen = null;
    say(text);
  });
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
    <button aria-label=${`Batch ${number} was delivered`}
      @click=${() => act(`${number}/settle`, { how: 'delivered' }, `Batch ${number} counts as delivered.`)}>Was delivered</button></span>`;
}
