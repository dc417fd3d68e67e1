// Lines as SVG, each chart with a table of its values.
import { html, nothing, svg } from './lit-html.js';
import { seconds } from './format.js';

const WIDTH = 300;
const HEIGHT = 90;
const TABLE_ROWS = 12;

/** The last minute of one number: as a line, and for screen readers as a word. */
export function sparkline(values) {
  const known = values.filter(Number.isFinite);
  if (known.length < 2) {
    return html`<span class="sr">not known yet</span>`;
  }
  const least = Math.min(...known);
  const range = Math.max(...known) - least;
  const points = known.map((value, i) =>
    `${((i * 78) / (known.length - 1) + 1).toFixed(1)},${(range === 0 ? 11 : 20 - ((value - least) / range) * 18).toFixed(1)}`);
  const word = known.at(-1) > known[0] ? 'rising' : known.at(-1) < known[0] ? 'falling' : 'steady';
  return html`<svg class="spark" viewBox="0 0 80 22" aria-hidden="true"><polyline points=${points.join(' ')}></polyline></svg>
    <span class="sr">${word}</span>`;
}

/**
 * A chart of the last minutes.
 *
 * @param series with their keys in the points, their names, and the class that draws them
 * @param text of a value
 */
export function chart({ id, title, points, series, text, waiting }) {
  const last = points.at(-1);
  const values = points.flatMap((point) => series.map(({ key }) => point[key])).filter(Number.isFinite);
  const max = Math.max(...values, 0) || 1;
  const min = Math.min(...values, 0);
  return html`
    <section aria-labelledby=${id}>
      <h2 id=${id}>${title}</h2>
      ${last === undefined ? html`<p class="note">${waiting}</p>` : html`
        <p class="figures">${series.map(({ key, name, css }) => html`<span class="figure">
          ${name === '' ? nothing : html`<svg class="key ${css}" viewBox="0 0 24 4" aria-hidden="true"><line x1="0" x2="24" y1="2" y2="2"></line></svg>
            <span class="unit">${name}</span>`} <b>${text(last[key])}</b></span>`)}</p>
        <svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"
            aria-label=${`${title}: ${series.map(({ key, name }) => `${name} ${text(last[key])}`).join(', ')}`}>
          ${[0.25, 0.5, 0.75].map((part) => svg`<line class="grid" x1="0" x2=${WIDTH} y1=${HEIGHT * part} y2=${HEIGHT * part}></line>`)}
          ${series.map(({ key, css }) => svg`<polyline class=${css} points=${line(points, key, min, max)}></polyline>`)}
        </svg>
        <p class="note scale"><span>${seconds((last.at - points[0].at) / 1000)} ago</span><span>top ${text(max)}</span><span>now</span></p>
        ${table(title, points, series, text)}`}
    </section>`;
}

function line(points, key, min, max) {
  const from = points[0].at;
  const range = points.at(-1).at - from || 1;
  return points
    .filter((point) => Number.isFinite(point[key]))
    .map((point) => `${(((point.at - from) / range) * WIDTH).toFixed(1)},${(HEIGHT - ((point[key] - min) / (max - min)) * (HEIGHT - 2)).toFixed(1)}`)
    .join(' ');
}

function table(title, points, series, text) {
  const now = points.at(-1).at;
  const step = Math.max(1, Math.ceil(points.length / TABLE_ROWS));
  const shown = points.filter((_, i) => (points.length - 1 - i) % step === 0).reverse();
  return html`<details><summary>${title} as a table</summary>
    <table><caption class="sr">${title}</caption>
      <thead><tr><th scope="col">When</th>${series.map(({ name }) => html`<th scope="col" class="number">${name || 'Value'}</th>`)}</tr></thead>
      <tbody>${shown.map((point) => html`<tr><th scope="row">${point.at === now ? 'now' : `${seconds((now - point.at) / 1000)} ago`}</th>
        ${series.map(({ key }) => html`<td class="number">${text(point[key])}</td>`)}</tr>`)}</tbody>
    </table></details>`;
}
