// How much came, how fast, what became of it, and how far each source is.
import { html, nothing } from './lit-html.js';
import { chart } from './chart.js';
import { about, bytes, clock, count, delay, exact, seconds as long } from './format.js';
import { live } from './live.js';

/** Records a second. */
export function rate() {
  return chart({
    id: 'rate',
    title: 'Rate',
    points: live.rates,
    series: [{ key: 'value', name: '', css: 'first' }],
    text: (value) => `${about(value)} records/s`,
    waiting: 'Known after some seconds.',
  });
}

/** How long requests with records took. */
export function delays() {
  return chart({
    id: 'delay',
    title: 'Delay, from arrival to visible',
    points: live.delays,
    series: [
      { key: 'p50', name: 'p50', css: 'first' },
      { key: 'p99', name: 'p99', css: 'second' },
      { key: 'max', name: 'max', css: 'third' },
    ],
    text: (value) => (Number.isFinite(value) ? `≤ ${delay(value)}` : 'over 10 s'),
    waiting: 'Drawn for requests. The way of a record shows the delay of files, logs and queues.',
  });
}

function seconds(micros) {
  return delay(Number(micros) / 1e6);
}

/** The way of a record: what became of all of them, room by room. */
export function way() {
  const { status } = live;
  if (status === null) {
    return nothing;
  }
  const decoded = Number(status.records) - Number(status.rejected);
  return html`
    <section aria-labelledby="way">
      <h2 id="way">The way of a record</h2>
      <ol class="way">
        ${room('Arrived', status.records, status.records)}
        ${room('Rejected', status.rejected, status.records, 'dead letters')}
        ${room('Decoded', decoded, status.records)}
        ${room('Duplicate', status.duplicate, status.records, 'counted already')}
        ${room('Stale', status.stale, status.records, causes('stale', 'older than what is stored'))}
        ${room('Conflicting', status.conflicting, status.records, causes('conflicting', 'one version, two contents'))}
        ${status.silent === '0' ? nothing : room('Silent', status.silent, status.records, causes('silent', 'tell of no row'))}
        ${room('Accepted', status.accepted, status.records, 'in the results')}
      </ol>
      <dl class="facts">
        <dt>Keys</dt><dd>${exact(status.rows)}</dd>
        <dt>Memory</dt><dd>${bytes(status.memoryBytes)}</dd>
        <dt>Disk</dt><dd>${bytes(status.diskBytes)}</dd>
        ${(status.delays ?? []).map((each) => html`
          <dt>Delay of ${each.from}</dt>
          <dd>half of them up to ${seconds(each.p50Micros)}, 99 % up to ${seconds(each.p99Micros)}, longest ${seconds(each.longestMicros)}</dd>`)}
        <dt>Checkpoint</dt><dd>${exact(status.checkpoint)}, ${clock(status.checkpointAt)}</dd>
      </dl>
    </section>`;
}

/** A note with the named causes of a fate. */
function causes(fate, note) {
  const named = Object.entries(live.status.causes ?? {}).filter(([name]) => name.startsWith(`${fate}: `));
  return [note, ...named.map(([name, number]) => `${exact(number)} ${name.slice(fate.length + 2)}`)].join(', ');
}

function room(name, number, all, more = '') {
  const part = Number(all) === 0 ? 0 : Number(number) / Number(all);
  return html`<li><span class="room">${name} <small>${more}</small></span>
    <span class="number">${exact(number)}</span>
    <svg class="part" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width=${part * 100} height="4"></rect></svg></li>`;
}

/** How far each source is. */
export function sources() {
  const { status } = live;
  if (status === null) {
    return nothing;
  }
  const lag = Number(status.lagBytes);
  const logs = new Map((status.logs ?? []).map((each) => [each.source, each]));
  return html`
    <section aria-labelledby="sources">
      <h2 id="sources">Sources</h2>
      ${lag === 0 && logs.size > 0 ? nothing : html`<p>${lag === 0 ? 'All that was seen of files is in the results.' : `Behind by ${bytes(lag)} of files.`}</p>`}
      ${status.sources.length === 0 ? html`<p class="note">No source yet.</p>` : html`
        <div class="scroll" tabindex="0" role="group" aria-labelledby="sources"><table>
          <thead><tr><th scope="col">Source</th><th scope="col" class="number">Records</th><th scope="col" class="number">Bytes</th>
            <th scope="col" class="number">Records/s</th>${logs.size === 0 ? nothing : html`<th scope="col">Behind</th>`}</tr></thead>
          <tbody>${status.sources.slice(0, 200).map((each) => html`<tr><th scope="row">${each.source}</th>
            <td class="number">${exact(each.records)}</td><td class="number">${logs.has(each.source) ? '' : bytes(each.bytes)}</td>
            <td class="number">${about(live.sourceRates.get(each.source) ?? 0)}</td>
            ${logs.size === 0 ? nothing : html`<td>${behind(logs.get(each.source))}</td>`}</tr>`)}</tbody>
        </table></div>
        ${status.sources.length > 200 ? html`<p class="note">${count(status.sources.length - 200, 'more source')}.</p>` : nothing}`}
    </section>`;
}

/** How far a partition of a log is behind its end, and how long it still has what is not read. */
function behind(log) {
  if (log === undefined) {
    return '';
  }
  if (Number(log.behind) < 0) {
    return 'not known';
  }
  const age = Number(log.behindMs) > 0 ? `, for ${long(Number(log.behindMs) / 1000)}` : '';
  const kept = Number(log.retentionLeftMs) >= 0 ? `; kept for ${long(Number(log.retentionLeftMs) / 1000)} more` : '';
  return `${count(log.behind, 'offset')}${age}${kept}`;
}

/** What needs somebody now. */
export function troubles() {
  const { status } = live;
  const all = [];
  if (status?.waitingForSpaceSince !== undefined) {
    all.push(`The disk is full since ${clock(status.waitingForSpaceSince)}: this pipeline takes no records. Make room, and it goes on.`);
  }
  if (status?.definitionPending === true) {
    all.push('Another definition of this pipeline is wanted, and does not serve yet.');
  }
  if (status?.publication?.failure) {
    all.push(`Publishing fails since ${clock(status.publication.failingSince)}: ${status.publication.failure}`);
  }
  if (status?.batches?.intake_waits_since !== undefined) {
    all.push(`The receiver of batches takes nothing; intake waits since ${clock(status.batches.intake_waits_since)}.`);
  }
  if (Number(status?.function?.impureCalls ?? 0) > 0) {
    all.push(`The function gave two results for one call, ${count(status.function.impureCalls, 'time')}. Its tables may not be repeatable.`);
  }
  if (status?.function?.otherJar !== undefined) {
    all.push(status.function.otherJar);
  }
  for (const log of status?.logs ?? []) {
    if (log.stopped !== '') {
      all.push(log.stopped);
    } else if (log.waits !== '') {
      all.push(`${log.source} waits ${log.waits}.`);
    }
  }
  return all.map((text) => html`<p class="bad" role="alert">${text}</p>`);
}
