// A function per key of Onefold, in JavaScript for Node 18 or newer. Copy this file beside yours.
//
//     import { serve, put } from "./onefold.mjs";
//
//     const start = () => ({ metres: 0n });
//
//     function step(run, fix) {
//         const metres = run.metres + fix.distance_meters;
//         return [{ metres }, put("stats", { user_id: fix.user_id, metres })];
//     }
//
//     serve({
//         start,
//         step,
//         context: "{metres: long}",
//         event: "{user_id: text, distance_meters: long}",
//         tables: { stats: "{user_id: text, metres: long}" },
//     });
//
// The pipeline file names the command: `process: {command: [node, runs.mjs], …}`.
//
//     boolean      true, false               time      text, ISO-8601 in UTC; a Date may be returned, too
//     int          number                    date      text, ISO-8601
//     long         BigInt                    duration  text, ISO-8601: durationOf(millis), millisOf(text)
//     decimal      text of a number          (A|B)     text, one of the names
//     text         text                      type?     the value, or null
//     [type]       array                     {a: type} object with just these names
//
// The function is pure: its result depends on its arguments alone, and it does not change them. It has 1 second for
// each event. An exception makes the event a dead letter. What it prints goes to the log.

import { readSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";

const FLUSH_MILLIS = 50; // An answer is awaited for 1 second.
const FLUSH_ANSWERS = 64;
const READ_BYTES = 1 << 16;
const NANOS = 1_000_000_000n;
const HALVES = /\p{Surrogate}/u; // Half of a surrogate pair, which is not Unicode text.
const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const ENDS_WITH_ONEFOLD = `// Also in a call that hangs.
    const parent = process.ppid;
    setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), 1000);`;

class Write {
    constructor(what, table, value) {
        this.what = what;
        this.table = table;
        this.value = value;
    }
}

/** Puts a row into a table, in place of the row with the same key. */
export function put(table, row) {
    return new Write("put", table, row);
}

/** Removes the row with this key: remove("stats", { user_id: "u1", run_id: 7 }). */
export function remove(table, key) {
    return new Write("remove", table, key);
}

/** A duration of so many milliseconds. */
export function durationOf(millis) {
    const whole = Math.round(Math.abs(millis));
    const sign = millis < 0 ? "-" : "";
    return `PT${sign}${Math.floor(whole / 1000)}.${String(whole % 1000).padStart(3, "0")}S`;
}

/** The milliseconds of a duration such as PT1H2M3.5S. */
export function millisOf(duration) {
    const parts = /^P(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+(?:\.\d+)?)S)?)?$/.exec(duration);
    if (!parts) {
        throw new TypeError(`${duration} is not a duration`);
    }
    const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
    return Math.round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000);
}

/**
 * Answers Onefold on standard input and output, until its input ends.
 *
 * @param start makes the context of a key without events
 * @param step takes a context and an event; returns the next context, or an array of it and the writes
 * @param context type of the context, as a text
 * @param event type of the event
 * @param tables type of the rows of each table
 */
export function serve({ start, step, context, event, tables }) {
    process.on("SIGINT", () => {}); // Ctrl-C is meant for Onefold.
    new Worker(ENDS_WITH_ONEFOLD, { eval: true });
    for (const name of ["log", "info", "debug"]) {
        console[name] = (...words) => console.error(...words);
    }
    Object.defineProperty(process, "stdout", { value: process.stderr }); // Opened by Node, the pipe would not wait.
    const types = { context: parse(context), event: parse(event) };
    const rows = Object.fromEntries(Object.entries(tables).map(([name, type]) => [name, parse(type)]));

    function answer(result) {
        if (!Array.isArray(result)) {
            return [written(result, types.context, "the context")];
        }
        const answers = [written(result[0], types.context, "the context")];
        for (const write of result.slice(1).flat()) {
            if (!(write instanceof Write) || !Object.hasOwn(rows, write.table)) {
                throw new TypeError(`There is no table ${write?.table}; there is ${Object.keys(rows).join(", ")}`);
            }
            const row = rows[write.table];
            const type = write.what === "put" ? row : { fields: row.fields.filter(([name]) => name in write.value) };
            answers.push([write.what, write.table, written(write.value, type, `a row of ${write.table}`)]);
        }
        return answers;
    }

    send({ onefold: 1, context, event, tables, start: written(start(), types.context, "the context") });
    for (const line of lines()) {
        let answers = [];
        let until = performance.now() + FLUSH_MILLIS;
        for (const chain of JSON.parse(line).steps) {
            let now = chain[0];
            for (let i = 1; i < chain.length; i++) {
                try {
                    const stepped = answer(step(read(now, types.context), read(chain[i], types.event)));
                    now = JSON.parse(JSON.stringify(stepped[0]));
                    answers.push(stepped);
                } catch (e) {
                    answers.push(described(e));
                }
                if (answers.length >= FLUSH_ANSWERS || performance.now() > until) {
                    send({ answers });
                    answers = [];
                    until = performance.now() + FLUSH_MILLIS;
                }
            }
        }
        if (answers.length > 0) {
            send({ answers });
        }
    }
    process.exit(0);
}

function* lines() {
    const buffer = Buffer.alloc(READ_BYTES);
    let parts = [];
    const more = () => waiting(() => readSync(0, buffer));
    for (let length = more(); length > 0; length = more()) {
        let from = 0;
        for (let end = buffer.indexOf(10); end >= 0 && end < length; end = buffer.indexOf(10, from)) {
            parts.push(Buffer.from(buffer.subarray(from, end)));
            yield Buffer.concat(parts).toString("utf8");
            parts = [];
            from = end + 1;
        }
        parts.push(Buffer.from(buffer.subarray(from, length)));
    }
}

function send(value) {
    let bytes = Buffer.from(JSON.stringify(value) + "\n");
    while (bytes.length > 0) {
        const rest = bytes;
        bytes = rest.subarray(waiting(() => writeSync(1, rest)));
    }
}

// A full pipe, and an empty one, is an error where something else has opened it without waiting.
function waiting(call) {
    for (;;) {
        try {
            return call();
        } catch (e) {
            if (e.code !== "EAGAIN") {
                throw e;
            }
            Atomics.wait(PAUSE, 0, 0, 1);
        }
    }
}

function described(e) {
    const where = /\(?([^/\\(]+:\d+):\d+\)?$/m.exec(e?.stack ?? "");
    const text = `${e?.name ?? "Error"}: ${String(e?.message ?? e).slice(0, 500)}${where ? ", at " + where[1] : ""}`;
    return text.replace(new RegExp(HALVES, "gu"), "?");
}

// Types, as their texts: {name: type, "a.b": type}, [type], (A|B), type?, or a word.

function parse(text) {
    const tokens = text.match(/"(?:[^"\\]|\\.)*"|[^\s{}[\]():,|?"]+|[{}[\]():,|?]/g) ?? [];
    let at = 0;
    const take = (token) => tokens[at] === token && at++ >= 0;
    const expect = (token) => {
        if (!take(token)) {
            throw new TypeError(`The type ${text} is wrong: expected '${token}' before '${tokens.slice(at).join("")}'`);
        }
    };
    const list = (end, item) => {
        const items = [];
        while (!take(end)) {
            if (items.length > 0) {
                expect(end === ")" ? "|" : ",");
            }
            items.push(item());
        }
        return items;
    };
    const component = () => {
        let name = tokens[at++];
        while (tokens[at] !== ":" && at < tokens.length) {
            name += tokens[at++];
        }
        expect(":");
        return [/^"[^"]*"$/.test(name) ? JSON.parse(name) : name, type()];
    };
    const type = () => {
        let found;
        if (take("{")) {
            found = { fields: list("}", component) };
        } else if (take("[")) {
            found = { item: type() };
            expect("]");
        } else if (take("(")) {
            found = { names: list(")", () => tokens[at++]) };
        } else {
            found = { word: tokens[at++] };
        }
        return take("?") ? { maybe: found } : found;
    };
    const found = type();
    if (at < tokens.length || !found.fields) {
        throw new TypeError(`The type ${text} is not that of an object`);
    }
    return found;
}

function read(value, type) {
    if (type.maybe) {
        return value === null ? null : read(value, type.maybe);
    }
    if (type.fields) {
        const made = {};
        for (const [name, inner] of type.fields) {
            made[name] = read(value[name], inner);
        }
        return made;
    }
    if (type.item) {
        return value.map((item) => read(item, type.item));
    }
    return type.word === "long" ? BigInt(value) : value;
}

function written(value, type, what) {
    if (type.maybe) {
        return value === null || value === undefined ? null : written(value, type.maybe, what);
    }
    if (type.fields) {
        if (typeof value !== "object" || value === null) {
            throw wrong(value, "an object", what);
        }
        for (const name of Object.keys(value)) {
            if (!type.fields.some(([known]) => known === name)) {
                throw new TypeError(`${what} has ${name}, which its type does not have`);
            }
        }
        const made = {};
        for (const [name, inner] of type.fields) {
            made[name] = written(value[name], inner, `${name} of ${what}`);
        }
        return made;
    }
    if (type.item) {
        if (!Array.isArray(value)) {
            throw wrong(value, "an array", what);
        }
        return value.map((item) => written(item, type.item, what));
    }
    return scalar(value, type, what);
}

function scalar(value, type, what) {
    switch (type.word) {
        case "boolean":
            return must(typeof value === "boolean", value, "true or false", what);
        case "int":
            return must(Number.isInteger(value), value, "an integer", what);
        case "long":
            if (typeof value !== "bigint") {
                throw wrong(value, "a BigInt", what);
            }
            return value.toString();
        case "decimal":
            return plain(must(/^-?\d+(\.\d+)?$/.test(value) && typeof value === "string", value, "the text of a number", what));
        case "time":
            return instant(value instanceof Date ? value.toISOString() : value, what);
        case "date":
            return must(/^[+-]?\d{4,}-\d\d-\d\d$/.test(value), value, "a date such as 2026-11-21", what);
        case "duration":
            return span(value, what);
        case "text":
            return must(typeof value === "string" && !HALVES.test(value), value, "a text of whole characters", what);
        default:
            return must(type.names?.includes(value), value, `one of ${type.names?.join(", ")}`, what);
    }
}

// Onefold writes each decimal, time and duration in one form. So does an answer, whose context may be the next one's.
function plain(text) {
    const [, sign, whole, fraction] = /^(-?)0*(\d+?)(?:\.(\d*?)0*)?$/.exec(text);
    const number = fraction ? `${whole}.${fraction}` : whole;
    return number === "0" ? "0" : sign + number;
}

function instant(text, what) {
    const parts = /^([+-]?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text);
    if (!parts) {
        throw wrong(text, "a time in UTC such as 2026-11-21T08:00:00Z", what);
    }
    const digits = (parts[2] ?? "").replace(/0+$/, "");
    return parts[1] + (digits ? "." + digits.padEnd(Math.ceil(digits.length / 3) * 3, "0") : "") + "Z";
}

function span(text, what) {
    const parts = /^P(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d{1,9}))?S)?)?$/.exec(text);
    if (!parts || !/\d/.test(text)) {
        throw wrong(text, "a duration such as PT1M30S", what);
    }
    const [days, hours, minutes] = parts.slice(1, 4).map((part) => BigInt(part ?? 0));
    const nanos = BigInt(parts[5] ?? 0) * NANOS + BigInt((parts[6] ?? "").padEnd(9, "0"));
    const all = ((days * 24n + hours) * 60n + minutes) * 60n * NANOS + (parts[4] ? -nanos : nanos);
    const sign = all < 0n ? "-" : "";
    const most = all < 0n ? -all : all;
    const seconds = most / NANOS;
    const fraction = String(most % NANOS).padStart(9, "0").replace(/0+$/, "");
    const rest = `${seconds % 60n}${fraction ? "." + fraction : ""}`;
    const made = [[seconds / 3600n, "H"], [(seconds / 60n) % 60n, "M"], [rest, "S"]]
        .filter(([count]) => String(count) !== "0")
        .map(([count, unit]) => sign + count + unit);
    return "PT" + (made.join("") || "0S");
}

function must(holds, value, wanted, what) {
    if (!holds) {
        throw wrong(value, wanted, what);
    }
    return value;
}

function wrong(value, wanted, what) {
    const shown = typeof value === "bigint" ? `${value}n` : String(JSON.stringify(value)).slice(0, 100);
    return new TypeError(`${what} is ${shown}, and ${wanted} is wanted`);
}
