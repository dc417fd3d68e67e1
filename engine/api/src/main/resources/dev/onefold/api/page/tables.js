// The tables that a function writes: the first rows of one of them.
import { html, nothing } from './lit-html.js';
import { clock } from './format.js';
import { failed } from './live.js';
import { json, path } from './service.js';
import { changed, pipeline, state } from './state.js';

const ROWS = 100;

const tables = { answer: null, name: null, problem: null };

/** Forgets what is shown. */
export function reset() {
  Object.assign(tables, { answer: null, name: null, problem: null });
}

async function show(name) {
  const of = state.place.pipeline;
  tables.name = name;
  const isAsked = () => of === state.place.pipeline && name === tables.name;
  try {
    const answer = await json(path(of, 'tables', { table: name, limit: ROWS }));
    if (!isAsked()) {
      return;
    }
    tables.answer = answer;
    tables.problem = null;
  } catch (e) {
    if (!isAsked()) {
      return;
    }
    if (e.status === 0 || e.status === 401) {
      failed(e);
    }
    tables.problem = e.message;
  }
  changed();
}

/** The section; nothing if the pipeline has no such tables. */
export function view() {
  const names = Object.keys(pipeline()?.definition.process?.tables ?? {});
  if (names.length === 0) {
    return nothing;
  }
  return html`
    <section class="wide" aria-labelledby="tables">
      <h2 id="tables">Tables</h2>
      <div class="buttons" role="group" aria-label="Tables">${names.map((name) =>
        html`<button aria-pressed=${name === tables.name} @click=${() => show(name)}>${name}</button>`)}</div>
      ${tables.problem === null ? nothing : html`<p class="bad" role="alert">${tables.problem}</p>`}
      ${tables.answer === null ? nothing : table(tables.answer.tables[0])}
    </section>`;
}

function table({ table: name, columns, rows }) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${`Rows of ${name}`}><table>
      <thead><tr>${columns.map((each) => html`<th scope="col">${each}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${columns.map((each) => html`<td>${cell(row[each])}</td>`)}</tr>`)}</tbody>
    </table></div>
    <p class="note">${rows.length < ROWS ? 'All rows' : `The first ${ROWS} rows`}, as of ${clock(tables.answer.cut.at)}.
      Choose the table again for newer ones.</p>`;
}

function cell(value) {
  return value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}
