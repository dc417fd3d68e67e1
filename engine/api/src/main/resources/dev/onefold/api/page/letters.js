// Dead letters: how many by reason, and each with its record, to be mended, sent through again, or removed.
import { html, nothing } from './lit-html.js';
import { clock, count, exact } from './format.js';
import { AWAY, failed, live } from './live.js';
import { json, of, owned, path } from './service.js';
import { changed, say, state } from './state.js';

const SHOWN = 50;
const PAGE = 1000;
const PAGES_MAX = 20; // Of letters that are looked through for a reason.
const SETTLED = ['accepted', 'duplicate', 'stale']; // Outcomes of a redrive after which the letter is gone.
const SURE_MS = 700; // A second click that comes sooner is half of a double click.

const letters = fresh();
let run = 0; // The pipeline that is shown; what comes of an earlier one is passed over.
let asked = 0; // The latest list or letter that was asked for; an earlier one that comes later is passed over.
let waiting = 0; // Questions without an answer yet.

function fresh() {
  return {
    list: null,
    owner: null, // The start of the service that the list's numbers are of.
    hasMore: false,
    reason: null,
    seen: null,
    open: null,
    problem: null,
    done: null,
    isBusy: false,
  };
}

/** Forgets what is shown. */
export function reset() {
  run += 1;
  asked += 1;
  Object.assign(letters, fresh());
}

function target(route, parameters) {
  return path(state.place.pipeline, `dead-letters${route}`, parameters);
}

/** Notes why something was refused, and lists the letters again if the list may be wrong. */
function refused(e) {
  if (e.status === 0 || e.status === 401) {
    failed(e);
  }
  if (AWAY.has(e.status) || e.kind === 'OWNER_CHANGED') {
    letters.seen = null;
  }
  if (e.kind === 'OWNER_CHANGED') {
    letters.open = null; // Its number may be another letter's by now.
  }
  letters.problem = e.message;
}

/** Asks for something that is shown, unless something else is asked for before it comes. */
async function ask(action) {
  asked += 1;
  waiting += 1;
  const mine = asked;
  try {
    const take = await action();
    if (mine === asked) {
      take();
    }
  } catch (e) {
    if (mine === asked) {
      refused(e);
    }
  }
  waiting -= 1;
  changed();
}

/** Changes something, and lists what there is then. */
async function change(letter, route, parameters, body, words) {
  const mine = run;
  letters.isBusy = true;
  letters.problem = null;
  changed();
  try {
    const answer = await json(target(route, parameters), { method: 'POST', body, headers: of(letter.owner) });
    if (mine !== run) {
      return;
    }
    letters.open = null;
    letters.done = words(answer);
    say(letters.done.text);
  } catch (e) {
    if (mine !== run) {
      return;
    }
    refused(e);
  }
  letters.isBusy = false;
  if (letters.open === null) {
    await list(letters.problem);
  }
  changed();
}

/** Lists letters again when there are more or fewer, or when the service was started again. */
export function look() {
  const isOther = live.status?.deadLetters !== letters.seen || live.owner !== letters.owner;
  const isFree = letters.open === null && !letters.isBusy && waiting === 0; // A letter that a person opens comes first.
  if (letters.list !== null && isFree && isOther && state.lost === null) {
    list(letters.problem);
  }
}

/** @param problem that is to be read also when the list has come */
async function list(problem = null) {
  letters.seen = live.status?.deadLetters ?? null;
  await ask(async () => {
    let found = [];
    let after = '0';
    let hasMore = true;
    let owner = null;
    for (let page = 0; page < PAGES_MAX && hasMore && found.length < SHOWN; page += 1) {
      const limit = letters.reason === null ? SHOWN : PAGE;
      const part = await owned(target('', { after, limit }), { headers: of(owner) });
      ({ owner } = part);
      found = found.concat(part.answer.letters.filter((each) => letters.reason === null || each.reason === letters.reason));
      hasMore = part.answer.letters.length === limit;
      after = part.answer.letters.at(-1)?.id ?? after;
    }
    return () => {
      letters.list = found.slice(0, SHOWN);
      letters.owner = owner;
      letters.hasMore = hasMore || found.length > SHOWN;
      letters.problem = problem;
    };
  });
}

async function show(id) {
  letters.done = null;
  letters.problem = null;
  if (letters.open?.id === id) {
    letters.open = null;
    changed();
    return;
  }
  const { owner } = letters;
  await ask(async () => {
    const letter = await json(target(`/${id}`), { headers: of(owner) });
    return () => {
      letters.open = { ...letter, owner, sureAt: null };
    };
  });
}

function redrive(letter, edited) {
  return change(letter, `/${letter.id}/redrive`, edited === null ? {} : { edited: true }, edited ?? undefined,
    ({ outcome }) => {
      const isGood = SETTLED.includes(outcome);
      if (outcome === 'gone') {
        return { text: `Dead letter ${letter.id} is not there any more. Nothing was done.`, isGood };
      }
      const more = isGood ? '' : ' The list has the reason.';
      return { text: `Dead letter ${letter.id} was sent through again: ${outcome}.${more}`, isGood };
    });
}

function purge(letter) {
  if (letter.sureAt === null) {
    letter.sureAt = performance.now();
    changed();
  } else if (performance.now() - letter.sureAt >= SURE_MS) {
    change(letter, '/purge', { id: letter.id }, undefined, ({ purged }) => (purged === '0'
      ? { text: `Dead letter ${letter.id} is not there any more. Nothing was done.`, isGood: false }
      : { text: `Dead letter ${letter.id} was removed for good.`, isGood: true }));
  }
}

/** A key that is held presses a button again and again. */
function once(event) {
  if (event.repeat) {
    event.preventDefault();
  }
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
      ${letters.done === null ? nothing : html`<p class=${letters.done.isGood ? 'good' : 'bad'}>${letters.done.isGood ? '✓ ' : ''}${letters.done.text}</p>`}
      ${letters.list === null || letters.list.length === 0 ? nothing : table()}
    </section>`;
}

function reasonButton(reason, number) {
  const chosen = () => {
    letters.reason = reason;
    letters.open = null;
    letters.done = null;
    list();
    changed();
  };
  const isChosen = letters.list !== null && letters.reason === reason;
  return html`<button aria-pressed=${isChosen} @click=${chosen}>${reason ?? 'all'}: ${exact(number)}</button>`;
}

function table() {
  return html`<ul class="letters">${letters.list.map((each) => html`<li>
      <button class="plain" aria-expanded=${letters.open?.id === each.id} @click=${() => show(each.id)}>
        <span><b>${each.id}</b> ${each.reason}</span>
        <span class="note">${each.source}${each.line === '0' ? `, offset ${exact(each.offset)}` : `, line ${exact(each.line)}`}, ${clock(each.at)}</span>
        <span>${each.message}</span>
      </button>
      ${letters.open?.id === each.id ? detail(letters.open) : nothing}
    </li>`)}</ul>
    ${letters.hasMore ? html`<p class="note">There are more; they come when these are done.</p>` : nothing}`;
}

function detail(letter) {
  const isText = letter.text !== undefined;
  const isEditable = isText && !letter.text.includes('\r'); // A field of a form makes a line end of it.
  const edited = (event) => event.target.closest('.detail').querySelector('textarea').value;
  return html`<div class="detail">
    <label for="record">Record (${count(letter.bytes, 'byte')}${isText ? '' : '; not text, shown as base64'}${isText && !isEditable ? '; with a carriage return, so it is edited by the command line' : ''})</label>
    <textarea id="record" rows="5" spellcheck="false" ?readonly=${!isEditable}>${letter.text ?? letter.base64 ?? 'not kept'}</textarea>
    <div class="buttons">
      ${isEditable ? html`<button class="main" ?disabled=${letters.isBusy} @click=${(event) => redrive(letter, edited(event))}>Redrive as edited</button>` : nothing}
      <button ?disabled=${letters.isBusy || letter.kept === false} @click=${() => redrive(letter, null)}>Redrive unchanged</button>
      <button ?disabled=${letters.isBusy} @keydown=${once} @click=${() => purge(letter)}>${letter.sureAt !== null ? 'Yes, remove it for good' : 'Purge'}</button>
    </div></div>`;
}
