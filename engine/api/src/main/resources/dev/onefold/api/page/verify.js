// Recomputes the totals from the rows, and says whether they are equal.
import { html, nothing } from './lit-html.js';
import { clock, count, exact } from './format.js';
import { failed } from './live.js';
import { json, path } from './service.js';
import { changed, say, state } from './state.js';

const DIFFERENCES_MAX = 20;

const last = new Map(); // By the name of the pipeline: what this page has asked for, and what came of it.

async function verify() {
  const { pipeline } = state.place;
  last.set(pipeline, { isUnderWay: true });
  changed();
  try {
    const result = await json(path(pipeline, 'verify'), { method: 'POST' });
    last.set(pipeline, { result, at: new Date() });
    say(result.equal === true ? 'Verified: all totals are equal.' : 'Verified: totals differ.');
  } catch (e) {
    if (e.status === 0 || e.status === 401) {
      failed(e);
    }
    last.set(pipeline, { problem: e.message, at: new Date() });
  }
  changed();
}

/** The section. */
export function view() {
  const known = last.get(state.place.pipeline);
  return html`
    <section aria-labelledby="verify">
      <h2 id="verify">Verify</h2>
      ${known === undefined ? html`<p>Recomputes all totals from the rows and compares, while intake goes on.</p>` : outcome(known)}
      <p class="buttons"><button ?disabled=${known?.isUnderWay === true} @click=${verify}>Verify now</button></p>
    </section>`;
}

function outcome({ isUnderWay, problem, result, at }) {
  if (isUnderWay) {
    return html`<p>Comparing…</p>`;
  }
  if (problem !== undefined) {
    return html`<p class="bad" role="alert">${problem}</p>`;
  }
  const differences = result.differences.length + result.keyDifferences.length;
  return html`
    ${result.equal === true
      ? html`<p class="good">✓ Equal: ${count(result.groups, 'group')} were recomputed${result.keys === '0' ? '' : `, and ${count(result.keys, 'key')}`}.</p>`
      : html`<p class="bad" role="alert">Different: ${count(differences, 'difference')}. 'onefold rebuild' repairs them.</p>`}
    ${result.differences.length === 0 ? nothing : html`<ul>${result.differences.slice(0, DIFFERENCES_MAX).map((each) =>
      html`<li>${each.rollup}: ${each.group.join(' / ') || 'All'}</li>`)}</ul>
      ${differences > DIFFERENCES_MAX ? html`<p class="note">And ${exact(differences - DIFFERENCES_MAX)} more.</p>` : nothing}`}
    <p class="note">At ${clock(at.toISOString())}, asked by this page.</p>`;
}
