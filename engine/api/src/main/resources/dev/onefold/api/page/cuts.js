// What answers tell where the service tells no status: how fast a count grows, the total, and how late the cut is.
import { html, nothing } from './lit-html.js';
import { chart } from './chart.js';
import { about, delay } from './format.js';

const RATE_MS = 20_000;
const POINTS_MAX = 120;

const cuts = { counted: null, measure: null, points: [] };

/** Begins again: other groups or measures are shown. */
export function open() {
  cuts.points = [];
}

/**
 * Notes an answer.
 *
 * @param line the group of the place; null if nothing has changed since the answer before
 * @param lag how old its cut is, in seconds; up to one too few, because the head of an answer has whole seconds
 * @param measure the one that ranks the rows
 * @param counted a measure that counts events; undefined if there is none
 */
export function note(line, lag, measure, counted) {
  const at = performance.now();
  const last = cuts.points.at(-1);
  const number = line === null ? last?.number : Number(line.values[counted] ?? NaN);
  const total = line === null ? last?.total : Number(line.values[measure] ?? NaN);
  const first = cuts.points.find((point) => point.at >= at - RATE_MS);
  const rate = first === undefined ? NaN : ((number - first.number) * 1000) / (at - first.at);
  Object.assign(cuts, { counted, measure, points: [...cuts.points, { at, number, total, rate, delay: lag + 1 }].slice(-POINTS_MAX) });
}

/** The three charts. */
export function view() {
  const one = (key) => [{ key, name: '', css: 'first' }];
  const rates = cuts.points.filter((point) => Number.isFinite(point.rate));
  return cuts.measure === null ? nothing : html`
    <div class="stack">
      ${chart({
        id: 'rate', title: 'Rate', points: rates, series: one('rate'),
        text: (value) => `${about(value)} ${cuts.counted}/s`,
        waiting: cuts.counted === undefined ? 'A measure with count() would show it.' : 'Known after some seconds.',
      })}
    </div>
    <div class="stack">
      ${chart({
        id: 'total', title: 'Total', points: cuts.points, series: one('total'),
        text: (value) => `${about(value)} ${cuts.measure}`, waiting: '',
      })}
    </div>
    <div class="stack">
      ${chart({
        id: 'delay', title: 'Delay, from arrival to visible', points: cuts.points, series: one('delay'),
        text: (value) => `≤ ${delay(value)}`, waiting: '',
      })}
    </div>`;
}
