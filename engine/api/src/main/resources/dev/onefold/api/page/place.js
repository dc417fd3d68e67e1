// The place that the address names: #/PIPELINE/ROLLUP/VALUE/VALUE?by=MEASURE

/** Reads the address. */
export function read(hash = location.hash) {
  const [path, query] = hash.replace(/^#\/?/, '').split('?');
  let parts;
  try {
    parts = path === '' ? [] : path.split('/').map(decodeURIComponent);
  } catch {
    parts = []; // No address of ours.
  }
  const asked = new URLSearchParams(query ?? '');
  return { pipeline: parts[0] ?? null, rollup: parts[1] ?? null, group: parts.slice(2), by: asked.get('by') };
}

/** The address of a place. */
export function link({ pipeline, rollup, group = [], by = null }) {
  const parts = [pipeline, rollup, ...group].filter((part) => part !== null);
  const query = by === null ? '' : `?${new URLSearchParams({ by })}`;
  return `#/${parts.map(encodeURIComponent).join('/')}${query}`;
}

/** Goes to a place. */
export function go(place) {
  location.hash = link(place);
}
