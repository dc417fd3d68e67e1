// Texts of numbers and times. Numbers that came from the service are texts here, so that no digit is lost.

/** `-1234567.50` as `-1,234,567.50`. */
export function exact(number) {
  const [whole, fraction] = String(number).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A measured number, short: `12,300`, `4.2`. */
export function about(number) {
  if (!Number.isFinite(number)) {
    return '';
  }
  const size = Math.abs(number);
  return exact(size >= 100 ? Math.round(number) : Number(number.toPrecision(size >= 10 ? 3 : 2)));
}

/** Bytes as `3.4 MB`. */
export function bytes(count) {
  let number = Number(count);
  for (const unit of ['bytes', 'kB', 'MB', 'GB']) {
    if (number < 1000) {
      return `${unit === 'bytes' ? number : about(number)} ${unit}`;
    }
    number /= 1000;
  }
  return `${about(number)} TB`;
}

/** Seconds as `0.8 s`, `12 s`, `3 min`. */
export function seconds(number) {
  if (number < 10) {
    return `${number.toFixed(1)} s`;
  }
  if (number < 120) {
    return `${Math.round(number)} s`;
  }
  return number < 7200 ? `${Math.round(number / 60)} min` : `${Math.round(number / 3600)} h`;
}

/** A short time as `4 ms`, `1.2 s`. */
export function delay(number) {
  return number < 1 ? `${about(number * 1000)} ms` : seconds(number);
}

/** `1 record`, `2 records`. */
export function count(number, one, many = `${one}s`) {
  return `${exact(number)} ${String(number) === '1' ? one : many}`;
}

/** A time of the service, in UTC. */
export function clock(instant) {
  const date = new Date(instant);
  return Number.isNaN(date.getTime())
    ? String(instant)
    : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
