// Starts the page, and puts its parts together.
import { html, nothing, render } from './lit-html.js';
import * as batches from './batches.js';
import * as compare from './compare.js';
import * as counts from './counts.js';
import * as cuts from './cuts.js';
import { about, count, seconds } from './format.js';
import * as letters from './letters.js';
import { failed, follow, found, live } from './live.js';
import { link, read } from './place.js';
import { exactJson, forgetToken, hasToken, json } from './service.js';
import { changed, hasStatus, onChange, pipeline, state } from './state.js';
import * as tables from './tables.js';
import * as token from './token.js';
import * as tree from './tree.js';
import * as verify from './verify.js';

const SECOND_MS = 1000;
const FRESH_MS = 400; // The age of what is shown is said so often.
const root = document.getElementById('app');

async function start() {
  for (let isKnown = false; !isKnown && !state.needsToken; ) {
    try {
      const answer = await json('/v1');
      found();
      state.pipelines = answer.pipelines.map((each) => ({ ...each, definition: exactJson(each.definition) }));
      isKnown = true;
    } catch (e) {
      failed(e);
      if (!state.needsToken) {
        await new Promise((done) => setTimeout(done, SECOND_MS));
      }
    }
  }
  if (state.pipelines !== null) {
    arrived(true);
  }
}

/** Shows what the address names. */
function arrived(isFirst) {
  const before = state.place;
  const place = read();
  if (place.pipeline === null && state.pipelines?.length > 0) {
    history.replaceState(null, '', link({ ...place, pipeline: state.pipelines[0].pipeline, rollup: null }));
    place.pipeline = state.pipelines[0].pipeline;
  }
  state.place = place;
  if (isFirst || before.pipeline !== place.pipeline) {
    state.problem = null;
    [letters, batches, tables, compare].forEach((part) => part.reset());
    follow(pipeline() === undefined ? null : place.pipeline);
  }
  if (pipeline() === undefined) {
    tree.close();
  } else {
    tree.open();
  }
  document.title = [...[...place.group].reverse(), place.pipeline, 'Onefold'].filter((part) => part).join(' · ');
  changed();
}

function tokenGiven() {
  state.needsToken = false;
  state.tokenProblem = null;
  changed();
  start();
}

function signOut() {
  forgetToken();
  location.reload();
}

function page() {
  if (state.needsToken) {
    follow(null);
    tree.close();
    return token.view(tokenGiven);
  }
  return html`${header()}<main class=${state.lost === null ? '' : 'old'}>${body()}</main><p class="sr" role="status">${state.said}</p>`;
}

function header() {
  return html`<header>
    <h1>Onefold</h1>
    <nav class="tabs" aria-label="Pipelines">${(state.pipelines ?? []).map((each) =>
      html`<a href=${link({ pipeline: each.pipeline, rollup: null })}
        aria-current=${each.pipeline === state.place.pipeline ? 'page' : nothing}>${each.pipeline}</a>`)}</nav>
    <p class=${state.lost === null ? 'fresh' : 'fresh bad'}>${freshness()}</p>
    ${hasToken() ? html`<button @click=${signOut}>Forget the token</button>` : nothing}
  </header>`;
}

/** How old what is shown is, in words. */
function freshness() {
  if (state.lost !== null) {
    const shown = live.status === null && tree.age() === null ? '' : ' Shown is what was known then.';
    return `✕ ${state.lost.why}, for ${seconds(since(state.lost.since))}; trying again.${shown}`;
  }
  if (pipeline() !== undefined && !hasStatus()) {
    return tree.age() === null ? 'Asking…' : `● As of ${seconds(tree.age())} ago`;
  }
  if (live.status === null) {
    return state.problem === null && (state.pipelines === null || pipeline() !== undefined) ? 'Asking…' : '';
  }
  const cut = tree.cut();
  const statusAge = since(live.statusAt);
  const isCutOld = cut !== null && !cut.isLast;
  // The service's clock tells how old a cut was when its status was made.
  const age = isCutOld ? statusAge + Math.max(0, (new Date(live.status.at) - new Date(cut.at)) / 1000) : statusAge;
  return `● As of ${seconds(age)} ago`;
}

function since(at) {
  return Math.max(0, (performance.now() - at) / 1000);
}

function body() {
  if (state.pipelines === null) {
    return html`<p class="note">Asking the service for its pipelines.</p>`;
  }
  if (pipeline() === undefined) {
    return html`<section class="wide"><h2>Not here</h2><p>${state.pipelines.length === 0
      ? 'The token allows nothing with any pipeline here.'
      : `There is no pipeline '${state.place.pipeline}' here. Choose one above.`}</p></section>`;
  }
  if (state.problem !== null) {
    return html`<section class="wide"><h2>This pipeline cannot be shown</h2>
      <p class="bad" role="alert">${state.problem.message}</p></section>`;
  }
  if (!hasStatus()) {
    return html`${lostAge()}<div class="parts">${tree.view()} ${cuts.view()} ${compare.view(tree.answer())} ${tables.view()}</div>
      <p class="note">${pipeline().missing.STATUS} The page asks for totals every few seconds.</p>`;
  }
  return html`
    ${lostAge()} ${counts.troubles()} ${summary()}
    <div class="parts">
      ${tree.view()}
      <div class="stack">${counts.rate()} ${counts.sources()}</div>
      <div class="stack">${counts.delays()} ${verify.view()}</div>
      <div class="stack">${counts.way()}</div>
      ${batches.view()} ${letters.view()} ${tables.view()} ${compare.view(tree.answer())}
    </div>`;
}

/** How old all figures are while the connection is lost. The head says it to screen readers. */
function lostAge() {
  return state.lost === null
    ? nothing
    : html`<p class="age bad" aria-hidden="true">These figures are ${seconds(since(state.lost.since))} old.</p>`;
}

/** The first look. */
function summary() {
  const { status } = live;
  if (status === null) {
    return nothing;
  }
  return html`<ul class="summary" aria-label="At a glance">
    <li><b>${about(live.rates.at(-1)?.value ?? 0)}</b> records/s</li>
    <li><b>${about(Number(status.records))}</b> ${status.records === '1' ? 'record' : 'records'}</li>
    <li><b>${about(Number(status.rows))}</b> ${status.rows === '1' ? 'key' : 'keys'}</li>
    <li class=${status.deadLetters === '0' ? '' : 'warn'}><a href="#letters" @click=${toLetters}><b>${about(Number(status.deadLetters))}</b>
      ${count(status.deadLetters, 'dead letter').replace(/^\S+ /, '')}</a></li>
  </ul>`;
}

function toLetters(event) {
  event.preventDefault(); // The address names the place.
  document.getElementById('letters')?.scrollIntoView();
}

onChange(() => {
  render(page(), root);
  tree.drawn();
});
addEventListener('hashchange', () => arrived(false));
setInterval(() => {
  tree.tick();
  letters.look();
  batches.look();
}, SECOND_MS);
setInterval(changed, FRESH_MS);
root.replaceChildren();
start();
changed();
