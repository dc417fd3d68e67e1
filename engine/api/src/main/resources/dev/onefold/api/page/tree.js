// The tree of totals, one level at a time: the group of the place, and its children as the service ranks them. Rows that
// are out of sight are neither asked for nor drawn.
import { html, nothing } from './lit-html.js';
import { sparkline } from './chart.js';
import * as cuts from './cuts.js';
import { exact } from './format.js';
import { failed, found, live } from './live.js';
import { go, link } from './place.js';
import { events, path, tagged } from './service.js';
import { changed, pipeline, state } from './state.js';

const ROW_PX = 36;
const WINDOW = 60; // Rows that are asked for at a time.
const MARGIN = 20; // Rows of them that are above those in sight.
const RANKS_MAX = 100_000; // So far the service ranks.
const ROWS_MAX = 900_000; // A browser draws no element that is much higher.
const CHARACTER_EM = 0.66;
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const NAME_EM = 5; // At least, for the names of groups.
const NAME_PART = 0.35; // Of the tree, at most.
const TREND_EM = 7.5;
const SCROLL_MS = 120;
const AGAIN_MS = [500, 1000, 2000, 4000];
const TREND = 60; // Seconds.
const POLL_MS = 5000; // Where the service sends no stream, and does not say how often to ask.
const ANSWER_MS_MAX = 30_000;

const tree = {
  answer: null,
  skip: 0, // Of the answer.
  wantedSkip: 0,
  top: 0, // How far it is scrolled, in pixels.
  active: 0, // The row that the keyboard is at: 0 is the group of the place, 1 its first child.
  activeName: null,
  hasFocus: false,
  trends: new Map(),
  problem: null,
  roomEm: Infinity, // The width of the tree.
  asked: null, // {at, lag}: when it was asked last, by the page's clock, and how old the cut was then, in seconds.
};
let stream = new AbortController();
let pauseMs = null; // Between two looks, once the service has said that it sends no stream.
let scrolling = 0;

/** What ranks the rows; null where they are in the order of their names. */
function measure() {
  const { by } = state.place;
  return by === '' ? null : by ?? measures()[0] ?? null;
}

function rollups() {
  return pipeline()?.definition.rollups ?? {};
}

function rollup() {
  return state.place.rollup ?? Object.keys(rollups())[0] ?? null;
}

function measures() {
  return Object.keys(rollups()[rollup()]?.measures ?? {});
}

/** A measure that counts events without a condition; undefined if there is none. */
function counted() {
  return measures().find((name) => rollups()[rollup()].measures[name] === 'count()');
}

/** Shows the place that the address names. */
export function open() {
  Object.assign(tree, {
    answer: null, skip: 0, wantedSkip: 0, top: 0, active: 0, activeName: null, problem: null, asked: null,
  });
  tree.trends.clear();
  cuts.open();
  document.querySelector('.tree')?.scrollTo(0, 0);
  listen();
}

/** Shows nothing. */
export function close() {
  stream.abort();
}

function listen() {
  stream.abort();
  stream = new AbortController();
  if (rollup() !== null) {
    follow(stream.signal, tree.wantedSkip);
  }
}

async function follow(signal, skip) {
  const parameters = {
    rollup: rollup(),
    'group-json': JSON.stringify(state.place.group),
    by: measure(),
    limit: WINDOW,
    skip,
  };
  const target = path(state.place.pipeline, 'changes', parameters);
  for (let tries = 0; !signal.aborted; tries += 1) {
    if (pauseMs !== null) {
      poll(path(state.place.pipeline, 'totals', parameters), signal, skip);
      return;
    }
    try {
      await events(target, (name, data) => {
        tries = 0;
        if (!signal.aborted) {
          take(name, data, skip);
        }
      }, signal);
    } catch (e) {
      if (signal.aborted) {
        return;
      }
      if (e.kind === 'NO_STREAM') {
        pauseMs = e.pauseMs ?? POLL_MS;
        continue;
      }
      if (e.status >= 400 && e.status < 500 && e.status !== 401 && e.status !== 429) {
        tree.problem = e.message;
        changed();
        return;
      }
      failed(e);
    }
    await new Promise((done) => setTimeout(done, AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)]));
  }
}

/** Asks again and again, where the service sends no stream. */
async function poll(target, signal, skip) {
  for (let tag = null; !signal.aborted; ) {
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
      const answer = await tagged(target, tag, { signal: limit });
      tag = answer.tag;
      if (signal.aborted) {
        return;
      }
      const lag = answer.data === null ? 0 : (answer.date - new Date(answer.data.cut.at)) / 1000;
      tree.asked = { at: performance.now(), lag: lag > 0 ? lag : 0 };
      cuts.note(answer.data?.groups[0] ?? null, tree.asked.lag, measure() ?? measures()[0], counted());
      if (answer.data === null) {
        found();
      } else {
        take('totals', answer.data, skip);
      }
    } catch (e) {
      if (signal.aborted) {
        return;
      }
      if (e.status >= 400 && e.status < 500 && e.status !== 401 && e.status !== 429) {
        tree.problem = e.message;
        changed();
      } else {
        failed(e);
      }
    }
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

/** How old what is shown is, in seconds, where it was asked for; null while nothing is known. */
export function age() {
  return tree.asked === null ? null : tree.asked.lag + (performance.now() - tree.asked.at) / 1000;
}

function take(name, data, skip) {
  found();
  if (name === 'totals') {
    tree.problem = null;
    tree.answer = data;
    tree.skip = skip;
    followActive();
  } else {
    tree.problem = data.detail;
  }
  changed();
}

/** The keyboard stays at its group when the ranks change. */
function followActive() {
  const at = children().findIndex((line) => line.group.at(-1) === tree.activeName);
  if (tree.active > 0 && tree.activeName !== null && at >= 0) {
    tree.active = tree.skip + at + 1;
  }
}

function children() {
  return tree.answer?.groups.slice(1) ?? [];
}

function rows() {
  return Math.min(Number(tree.answer?.below ?? 0), measure() === null ? ROWS_MAX : RANKS_MAX - WINDOW);
}

/** Notes a value of each row in sight, each second. */
export function tick() {
  const trends = new Map(); // Rows that went out of sight begin again: between two of their values would be a gap.
  for (const line of tree.answer?.groups ?? []) {
    const key = JSON.stringify(line.group);
    const value = line.values[measure() ?? measures()[0]];
    trends.set(key, [...(tree.trends.get(key) ?? []), value === null ? NaN : Number(value)].slice(-TREND));
  }
  tree.trends = trends;
}

/** What is shown; null while nothing is known. */
export function answer() {
  return rollup() === null ? null : tree.answer;
}

/** The cut that is shown, and whether the service has said since that nothing came after it. */
export function cut() {
  if (tree.answer === null) {
    return null;
  }
  const shown = new Map(tree.answer.cut.sources.map((each) => [each.source, each.records]));
  const isLast = live.status?.sources.every((each) => shown.get(each.source) === each.records) ?? false;
  return { at: tree.answer.cut.at, isLast };
}

function scrolled(event) {
  tree.top = event.target.scrollTop;
  clearTimeout(scrolling);
  scrolling = setTimeout(() => want(Math.floor(tree.top / ROW_PX)), SCROLL_MS);
  changed();
}

function want(first) {
  const isCovered = first >= tree.wantedSkip && (first + MARGIN <= tree.wantedSkip + WINDOW);
  if (!isCovered || (first < tree.wantedSkip + 2 && tree.wantedSkip > 0)) {
    tree.wantedSkip = Math.max(0, Math.min(first - MARGIN, rows() - 1));
    listen();
  }
}

function keyPressed(event) {
  const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / ROW_PX) - 3);
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches('button, input')) {
    return;
  }
  if (event.key in moves) {
    moveTo(Math.max(0, Math.min(rows(), tree.active + moves[event.key])));
  } else if (event.key === 'ArrowRight' || event.key === 'Enter') {
    openRow();
  } else if (event.key === 'ArrowLeft') {
    if (tree.active > 0) {
      moveTo(0);
    } else if (state.place.group.length > 0) {
      goTo(state.place.group.slice(0, -1));
    }
  } else {
    return;
  }
  event.preventDefault();
}

/** Goes into the row that the keyboard is at. */
function openRow() {
  if (tree.active === 0) {
    moveTo(Math.min(1, rows()));
    return;
  }
  const line = children()[tree.active - 1 - tree.skip];
  if (line !== undefined && hasBelow(line.group)) {
    goTo(line.group);
  }
}

function goTo(group) {
  go({ ...state.place, rollup: rollup(), group });
}

function moveTo(row) {
  tree.active = row;
  tree.activeName = children()[row - 1 - tree.skip]?.group.at(-1) ?? null;
  tree.hasFocus = true;
  const grid = document.querySelector('.tree');
  const top = (row - 1) * ROW_PX;
  const inSight = grid.clientHeight - 2 * ROW_PX; // Below the head and the group of the place.
  if (row > 0 && top < grid.scrollTop) {
    grid.scrollTop = top;
  } else if (row > 0 && top + ROW_PX > grid.scrollTop + inSight) {
    grid.scrollTop = top + ROW_PX - inSight;
  }
  changed();
}

function hasBelow(group) {
  return group.length < (tree.answer?.levels.length ?? 0);
}

/** A tab that nobody sees holds no stream: without TLS a browser has six connections to a service, for all its tabs. */
document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    stream.abort();
  } else {
    listen();
  }
});

/** The keyboard leaves the tree with the pointer. */
addEventListener('pointerdown', (event) => {
  if (event.target.closest?.('.tree') === null) {
    tree.hasFocus = false;
  }
});

/** Puts the focus where it was before the rows were drawn, and notes how much room they have. */
export function drawn() {
  const grid = document.querySelector('.tree');
  const roomEm = grid === null ? Infinity : grid.clientWidth / parseFloat(getComputedStyle(grid).fontSize);
  if (roomEm !== tree.roomEm) {
    tree.roomEm = roomEm;
    changed();
  }
  const row = tree.hasFocus ? document.querySelector(`.tree [data-row="${tree.active}"]`) : null;
  if (row !== null && row !== document.activeElement) {
    row.focus({ preventScroll: true });
  }
}

function focused(event) {
  const row = event.target.closest('[data-row]');
  if (row !== null && !tree.hasFocus) {
    tree.hasFocus = true;
    tree.active = Number(row.dataset.row);
    tree.activeName = children()[tree.active - 1 - tree.skip]?.group.at(-1) ?? null;
  } else if (row === null) {
    tree.hasFocus = false;
  }
}

function left(event) {
  if (event.relatedTarget !== null && !event.currentTarget.contains(event.relatedTarget)) {
    tree.hasFocus = false;
  }
}

/** The tree. */
export function view() {
  if (rollup() === null) {
    return nothing;
  }
  return html`
    <section class="wide" aria-labelledby="totals">
      <h2 id="totals">Totals</h2>
      ${rollupLinks()} ${whereabouts()}
      ${tree.problem === null ? nothing : html`<p class="bad" role="alert">${tree.problem}</p>`}
      ${tree.answer === null ? html`<p class="note">Waiting for totals.</p>` : grid()}
    </section>`;
}

function rollupLinks() {
  const names = Object.keys(rollups());
  return names.length < 2
    ? nothing
    : html`<nav class="tabs" aria-label="Roll-ups">
        ${names.map((name) => html`<a href=${link({ pipeline: state.place.pipeline, rollup: name })}
            aria-current=${name === rollup() ? 'true' : nothing}>${name}</a>`)}
      </nav>`;
}

function whereabouts() {
  const { group, by } = state.place;
  const at = (length) => link({ pipeline: state.place.pipeline, rollup: rollup(), group: group.slice(0, length), by });
  return html`
    <div class="bar">
      <nav class="path" aria-label="Where you are">
        <ol>
          <li><a href=${at(0)} aria-current=${group.length === 0 ? 'page' : nothing}>All</a></li>
          ${group.map((value, i) => html`<li>
            <a href=${at(i + 1)} aria-current=${i === group.length - 1 ? 'page' : nothing}>${shown(value)}</a></li>`)}
        </ol>
      </nav>
      ${choice()} ${hasBelow(group) ? search() : nothing}
    </div>`;
}

/** Where not every measure has room: which one is shown first, and ranks. */
function choice() {
  const { answer } = tree;
  if (answer === null || columns(answer).measures.length === answer.measures.length) {
    return nothing;
  }
  const chosen = (event) => go({ ...state.place, rollup: rollup(), by: event.target.value });
  return html`<label>Measure <select @change=${chosen}>${answer.measures.map((each) =>
    html`<option ?selected=${each === leading(answer)}>${each}</option>`)}</select></label>`;
}

/** A name as it can be seen: without signs that hide or turn round what is near them. */
function shown(value) {
  return value.trim() === '' ? `(${value === '' ? 'empty' : 'blank'})` : value.replace(INVISIBLE, (each) =>
    `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function search() {
  const submitted = (event) => {
    event.preventDefault();
    const name = event.target.elements.name.value;
    event.target.reset();
    goTo([...state.place.group, name]);
  };
  return html`<form @submit=${submitted}>
    <label>Go to <input name="name" required autocomplete="off" placeholder=${tree.answer.levels[state.place.group.length]}>
    </label> <button>Go</button></form>`;
}

function grid() {
  const { answer } = tree;
  const below = Number(answer.below);
  if (answer.groups.length === 0) {
    return html`<p class="note">There is nothing in this group now.</p>`;
  }
  if (live.status?.records === '0') {
    return html`<p class="note">No data yet. Totals appear here when the first records arrive.</p>`;
  }
  const all = rows();
  const first = Math.max(0, Math.floor(tree.top / ROW_PX) - 4);
  const drawnRows = [];
  for (let rank = first; rank < Math.min(all, first + 32); rank += 1) {
    drawnRows.push(childRow(rank));
  }
  const level = answer.levels[state.place.group.length];
  return html`
    <div class="tree" role="treegrid" aria-labelledby="totals" aria-rowcount=${below + 2}
        aria-colcount=${columns(answer).measures.length + (columns(answer).hasTrend ? 2 : 1)} .style=${columnWidths(answer)}
        @scroll=${scrolled} @keydown=${keyPressed} @focusin=${focused} @focusout=${left}>
      <div role="rowgroup" class="head">${headRow(level)}${row(0, answer.groups[0], 'place', nothing)}</div>
      <div role="rowgroup" class="rows" .style=${`height: ${all * ROW_PX}px`}>${drawnRows}</div>
    </div>
    <p class="note">${level === undefined ? 'The smallest group.' : `${exact(below)} ${below === 1 ? 'group' : 'groups'} by ${level}.`}
      ${below > all ? `The first ${exact(all)} are listed; go to others by their names.` : nothing}</p>`;
}

/** The measure that is always shown. */
function leading({ measures }) {
  return measure() ?? measures[0];
}

/**
 * The measures that have room, and whether the trend has: a number that is cut in the middle is another number. Each
 * column is as wide as its longest number or its name, bold or not.
 */
function columns(answer) {
  const { groups, measures } = answer;
  const width = (each) =>
    Math.max(each.length + 2, ...groups.map((line) => exact(line.values[each] ?? '').length)) * CHARACTER_EM + 2.5;
  const longest = Math.max(0, ...groups.map((line) => line.group.at(-1)?.length ?? 0)) * CHARACTER_EM + 3.5;
  let rest = tree.roomEm - (measures.length > 0 ? width(leading(answer)) : 0);
  const name = Math.min(longest, Math.max(NAME_EM, Math.min(NAME_PART * tree.roomEm, rest)));
  rest -= name;
  const withRoom = measures.filter((each) => {
    const isShown = each === leading(answer) || rest >= width(each);
    rest -= isShown && each !== leading(answer) ? width(each) : 0;
    return isShown;
  });
  return { measures: withRoom, name, widths: withRoom.map(width), hasTrend: rest >= TREND_EM };
}

function columnWidths(answer) {
  const { name, widths, hasTrend } = columns(answer);
  const all = [...widths, ...(hasTrend ? [TREND_EM] : [])];
  return `--columns: ${all.map((width) => `${width.toFixed(2)}em`).join(' ')};`
    + ` --numbers: ${all.reduce((sum, width) => sum + width, 0).toFixed(2)}em; --name: ${name.toFixed(2)}em`;
}

function headRow(level) {
  const column = (by, text, css) => html`
    <div role="columnheader" class=${css} aria-sort=${(by || null) === measure() ? (by === '' ? 'ascending' : 'descending') : 'none'}>
      <a href=${link({ ...state.place, rollup: rollup(), by })}>${text}<span aria-hidden="true"
        >${(by || null) === measure() ? (by === '' ? ' ▲' : ' ▼') : ''}</span></a>
    </div>`;
  return html`<div role="row" aria-rowindex="1" class="names">
    ${column('', level ?? 'group', 'name')} ${columns(tree.answer).measures.map((each) => column(each, each, 'number'))}
    ${columns(tree.answer).hasTrend ? html`<div role="columnheader" class="trend">Trend</div>` : nothing}</div>`;
}

function childRow(rank) {
  const line = children()[rank - tree.skip];
  const top = `top: ${rank * ROW_PX}px`;
  return line === undefined
    ? html`<div role="row" aria-rowindex=${rank + 3} aria-level=${state.place.group.length + 2} class="child" .style=${top}>
        <div role="gridcell" class="name">…</div></div>`
    : row(rank + 1, line, 'child', top);
}

function row(index, line, css, top) {
  const level = line.group.length + 1;
  const name = line.group.length === 0 ? 'All' : shown(line.group.at(-1));
  const isTab = index === tree.active || (index === 0 && !isDrawn(tree.active));
  const isClosed = index > 0 && hasBelow(line.group);
  return html`<div role="row" class=${css} data-row=${index} aria-rowindex=${index + 2} aria-level=${level}
      aria-expanded=${hasBelow(line.group) ? String(!isClosed) : nothing} tabindex=${isTab ? 0 : -1}
      .style=${top === nothing ? '' : top}>
    <div role="gridcell" class="name"><span class="mark" aria-hidden="true">${hasBelow(line.group) ? (isClosed ? '▸' : '▾') : ''}</span>
      ${isClosed ? html`<a tabindex="-1" title=${name} href=${link({ ...state.place, rollup: rollup(), group: line.group })}>${name}</a>` : name}</div>
    ${columns(tree.answer).measures.map((each) => html`<div role="gridcell" class="number">${
      line.values[each] === null ? '–' : exact(line.values[each])}</div>`)}
    ${columns(tree.answer).hasTrend
      ? html`<div role="gridcell" class="trend">${sparkline(tree.trends.get(JSON.stringify(line.group)) ?? [])}</div>`
      : nothing}</div>`;
}

function isDrawn(index) {
  const rank = index - 1;
  const first = Math.max(0, Math.floor(tree.top / ROW_PX) - 4);
  return index === 0 || (rank >= first && rank < Math.min(rows(), first + 32) && children()[rank - tree.skip] !== undefined);
}
