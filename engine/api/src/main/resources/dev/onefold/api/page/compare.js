// The producer's totals, from a file that a person chooses, beside those that are shown. The file stays in the browser.
import { html, nothing } from './lit-html.js';
import { exact } from './format.js';
import { exactJson } from './service.js';
import { changed } from './state.js';

const FILE_BYTES_MAX = 64 * 2 ** 20;
const NUMBER = /^-?\d+(\.\d+)?$/;

const compare = { groups: null, name: null, problem: null };

/** Forgets the file: another pipeline is shown. */
export function reset() {
  Object.assign(compare, { groups: null, name: null, problem: null });
}

/** The same file may be chosen again, when its producer has written it again. */
function forget(event) {
  event.target.value = '';
}

async function choose(event) {
  const [file] = event.target.files;
  if (file === undefined) {
    return;
  }
  reset();
  try {
    if (file.size > FILE_BYTES_MAX) {
      throw new RangeError('it has more than 64 MB');
    }
    compare.groups = read(exactJson(await file.text()));
    compare.name = file.name;
  } catch (e) {
    compare.problem = `${file.name} holds no totals: ${e.message}. Write it with 'onefold generate trade-risk --totals FILE'`
      + ` or 'onefold query PIPELINE --format json'.`;
  }
  changed();
}

/** The values of each group, by its name as JSON. */
function read({ groups }) {
  const all = new Map();
  for (const { group, values, ...own } of groups) {
    for (const [name, value] of Object.entries(values ?? own)) {
      if (value !== null && !NUMBER.test(value)) {
        throw new TypeError(`${name} of group ${JSON.stringify(group)} is not a plain number`);
      }
    }
    all.set(JSON.stringify(group), values ?? own);
  }
  return all;
}

function plain(value) {
  return (value.includes('.') ? value.replace(/\.?0+$/, '') : value).replace(/^-0$/, '0');
}

function isEqual(ours, theirs) {
  return ours === theirs || (ours !== null && theirs !== null && plain(ours) === plain(theirs));
}

/** The groups of an answer, and those below its first one that only the producer has. */
function pairs({ groups, below, measures }) {
  const place = groups[0]?.group ?? [];
  const shown = new Map(groups.map((line) => [JSON.stringify(line.group), line]));
  const isWhole = groups.length - 1 === Number(below);
  const more = [...compare.groups.keys()].map((key) => JSON.parse(key)).filter((group) => isWhole
    && group.length === place.length + 1 && place.every((name, i) => group[i] === name) && !shown.has(JSON.stringify(group)));
  return [...groups, ...more.map((group) => ({ group, values: {} }))].flatMap(({ group, values }) => {
    const right = compare.groups.get(JSON.stringify(group)) ?? {};
    return measures
      .filter((name) => [...compare.groups.values()].some((each) => name in each))
      .map((name) => ({ group, name, ours: values[name] ?? null, theirs: right[name] ?? null }));
  });
}

/** The section; nothing while no totals are known. */
export function view(answer) {
  if (answer === null) {
    return nothing;
  }
  return html`
    <section class="wide" aria-labelledby="producer">
      <h2 id="producer">Producer's totals</h2>
      <p><label>File <input type="file" accept=".json,application/json" @click=${forget} @change=${choose}></label></p>
      ${compare.problem === null ? nothing : html`<p class="bad" role="alert">${compare.problem}</p>`}
      ${compare.groups === null
        ? html`<p class="note">Totals of 'onefold generate --totals' or 'onefold query --format json' are compared with the
          groups that are shown.</p>`
        : table(pairs(answer))}
    </section>`;
}

function table(all) {
  const different = all.filter(({ ours, theirs }) => !isEqual(ours, theirs)).length;
  const cell = (value) => html`<td class="number">${value === null ? '–' : exact(value)}</td>`;
  return html`
    <p class=${different === 0 ? '' : 'bad'}>${all.length === 0 ? `${compare.name} has none of these measures.`
      : different === 0 ? `✓ ${compare.name}: all that is shown is equal.` : `${compare.name}: ${exact(different)} DIFFERENT.`}</p>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="producer"><table>
      <thead><tr><th scope="col">Group</th><th scope="col">Measure</th><th scope="col" class="number">Engine</th>
        <th scope="col" class="number">Producer</th><th scope="col"></th></tr></thead>
      <tbody>${all.map(({ group, name, ours, theirs }) => html`<tr><th scope="row">${group.length === 0 ? 'All' : group.join(' › ')}</th>
        <td>${name}</td>${cell(ours)}${cell(theirs)}<td>${isEqual(ours, theirs) ? 'equal' : html`<b>DIFFERENT</b>`}</td></tr>`)}</tbody>
    </table></div>`;
}
