// Dead letters: how many by reason, and each with its record, to be mended, sent through again, or removed.
import { html, nothing } from './lit-html.js';
import { clock, count, exact } from './format.js';
import { failed, live } from './live.js';
import { json, path } from './service.js';
import { changed, say, state } from './state.js';

const SHOWN = 50;
const PAGE = 1000;
const PAGES_MAX = 20; // Of letters that are looked through for a reason.

const letters = { list: null, hasMore: false, reason: null, seen: null, open: null, problem: null, done: null, isBusy: false };

/** Forgets what is shown. */
export function reset() {
  Object.assign(letters, { list: null, hasMore: false, reason: null, seen: null, open: null, problem: null, done: null, isBusy: false });
}

function target(route, parameters) {
  return path(state.place.pipeline, `dead-letters${route}`, parameters);
}

/** Does something that may be refused, and shows why. */
async function attempt(action) {
  letters.isBusy = true;
  letters.problem = null;
  changed();
  try {
    await action();
  } catch (e) {
    if (e.status === 0 || e.status === 401) {
      failed(e);
    }
    letters.problem = e.message;
  }
  letters.isBusy = false;
  changed();
}

/** Lists letters again when there are more or fewer. */
export function look() {
  const now = live.status?.deadLetters;
  if (letters.list !== null && letters.open === null && !letters.isBusy && now !== letters.seen && letters.problem === null) {
    list();
  }
}

async function list() {
  const { pipeline } = state.place;
  await attempt(async () => {
    let found = [];
    let after = '0';
    let hasMore = true;
    letters.seen = live.status?.deadLetters ?? null;
    for (let page = 0; page < PAGES_MAX && hasMore && found.length < SHOWN; page += 1) {
      const limit = letters.reason === null ? SHOWN : PAGE;
      const answer = await json(target('', { after, limit }));
      found = found.concat(answer.letters.filter((each) => letters.reason === null || each.reason === letters.reason));
      hasMore = answer.letters.length === limit;
      after = answer.letters.at(-1)?.id ?? after;
    }
    if (pipeline === state.place.pipeline) {
      letters.list = found.slice(0, SHOWN);
      letters.hasMore = hasMore || found.length > SHOWN;
    }
  });
}

async function show(id) {
  letters.done = null;
  if (letters.open?.id === id) {
    letters.open = null;
    changed();
    return;
  }
  await attempt(async () => {
    letters.open = { ...(await json(target(`/${id}`))), isSure: false };
  });
}

async function redrive(letter, edited) {
  await attempt(async () => {
    const { outcome } = await json(target(`/${letter.id}/redrive`, edited === null ? {} : { edited: true }),
      { method: 'POST', body: edited ?? undefined });
    done(`Dead letter ${letter.id} was sent through again: ${outcome}.`);
  });
  await list();
}

async function purge(letter) {
  if (!letter.isSure) {
    letter.isSure = true;
    changed();
    return;
  }
  await attempt(async () => {
    await json(target('/purge', { id: letter.id }), { method: 'POST' });
    done(`Dead letter ${letter.id} was removed for good.`);
  });
  await list();
}

function done(text) {
  letters.open = null;
  letters.done = text;
  say(text);
}

/** The section. */
export function view() {
  const { status } = live;
  if (status === null) {
    return nothing;
  }
  const reasons = Object.entries(status.deadLettersByReason);
  return html`
    <section class="wide" aria-labelledby="letters">
      <h2 id="letters">Dead letters</h2>
      ${status.deadLetters === '0' ? html`<p>✓ None.</p>` : html`
        <p><b>${count(status.deadLetters, 'record')}</b> could not be processed, and ${status.deadLetters === '1' ? 'is' : 'are'} kept whole.</p>
        <div class="buttons" role="group" aria-label="Show dead letters by reason">
          ${reasonButton(null, status.deadLetters)} ${reasons.map(([reason, number]) => reasonButton(reason, number))}
        </div>
        ${status.deadLettersCounted === status.deadLetters ? nothing : html`<p class="note">Reasons of the first ${exact(status.deadLettersCounted)}.</p>`}`}
      ${letters.problem === null ? nothing : html`<p class="bad" role="alert">${letters.problem}</p>`}
      ${letters.done === null ? nothing : html`<p class="good">✓ ${letters.done}</p>`}
      ${letters.list === null || letters.list.length === 0 ? nothing : table()}
    </section>`;
}

function reasonButton(reason, number) {
  const chosen = () => {
    letters.reason = reason;
    letters.open = null;
    letters.done = null;
    list();
  };
  const isChosen = letters.list !== null && letters.reason === reason;
  return html`<button aria-pressed=${isChosen} @click=${chosen}>${reason ?? 'all'}: ${exact(number)}</button>`;
}

function table() {
  return html`<ul class="letters">${letters.list.map((each) => html`<li>
      <button class="plain" aria-expanded=${letters.open?.id === each.id} @click=${() => show(each.id)}>
        <span><b>${each.id}</b> ${each.reason}</span>
        <span class="note">${each.source}${each.line === '0' ? '' : `, line ${exact(each.line)}`}, ${clock(each.at)}</span>
        <span>${each.message}</span>
      </button>
      ${letters.open?.id === each.id ? detail(letters.open) : nothing}
    </li>`)}</ul>
    ${letters.hasMore ? html`<p class="note">There are more; they come when these are done.</p>` : nothing}`;
}

function detail(letter) {
  const isText = letter.text !== undefined;
  const edited = (event) => event.target.closest('.detail').querySelector('textarea').value;
  return html`<div class="detail">
    <label for="record">Record (${count(letter.bytes, 'byte')}${isText ? '' : '; not text, shown as base64'})</label>
    <textarea id="record" rows="5" spellcheck="false" ?readonly=${!isText}>${letter.text ?? letter.base64 ?? 'not kept'}</textarea>
    <div class="buttons">
      ${isText ? html`<button class="main" ?disabled=${letters.isBusy} @click=${(event) => redrive(letter, edited(event))}>Redrive as edited</button>` : nothing}
      <button ?disabled=${letters.isBusy || letter.kept === false} @click=${() => redrive(letter, null)}>Redrive unchanged</button>
      <button ?disabled=${letters.isBusy} @click=${() => purge(letter)}>${letter.isSure ? 'Yes, remove it for good' : 'Purge'}</button>
    </div></div>`;
}
