// The function of Runs.java in JavaScript. A folder of your own has a copy of onefold.mjs.
import { put, serve } from "../../clients/onefold.mjs";

const TENDENCY = "(STARTED|FASTER|STEADY|SLOWER)"; // How a runner's speed changes from leg to leg.
const LEG = "{metres: long, seconds: long}"; // Of a run, between two messages.
const RUN = `{id: int, since: time, at: time, metres: long, messages: int, now: ${TENDENCY}, leg: ${LEG}?}`;

const seconds = (since, at) => BigInt(Math.floor(Date.parse(at) / 1000) - Math.floor(Date.parse(since) / 1000));

/** Compares the speeds without a fraction: a difference below 5 % is none. */
function tendency(leg, before) {
    const mine = 100n * leg.metres * before.seconds;
    const other = 100n * before.metres * leg.seconds;
    if (mine * 20n > other * 21n) {
        return "FASTER";
    }
    return mine * 21n < other * 20n ? "SLOWER" : "STEADY";
}

function step(watch, { user_id, club, run_id, sequence_id, timestamp_utc: at, distance_meters: metres }) {
    const last = watch.run?.now ?? "STARTED";
    const before = watch.run?.id === run_id ? watch.run : null;
    let run = { id: run_id, since: at, at, metres, messages: 1, now: "STARTED", leg: null };
    if (before) {
        const leg = { metres: metres - before.metres, seconds: seconds(before.at, at) };
        const now = before.leg ? tendency(leg, before.leg) : before.now;
        run = { ...run, since: before.since, messages: before.messages + 1, now, leg };
    }
    const writes = [
        put("messages", { user_id, sequence_id, run_id, at, metres }),
        put("stats", { user_id, run_id, club, metres, seconds: seconds(run.since, at), messages: run.messages }),
    ];
    if (!before || run.now !== last) {
        writes.push(put("tendency", { user_id, now: run.now, before: last, since: at }));
    }
    return [{ run }, writes];
}

serve({
    start: () => ({ run: null }),
    step,
    context: `{run: ${RUN}?}`,
    event: "{user_id: text, club: text, run_id: int, sequence_id: long, timestamp_utc: time, distance_meters: long}",
    tables: {
        stats: "{user_id: text, run_id: int, club: text, metres: long, seconds: long, messages: int}",
        tendency: `{user_id: text, now: ${TENDENCY}, before: ${TENDENCY}, since: time}`,
        messages: "{user_id: text, sequence_id: long, run_id: int, at: time, metres: long}",
    },
});
