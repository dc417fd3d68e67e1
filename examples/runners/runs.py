"""The function of Runs.java in Python: three tables from the messages of runners' watches. A message says how far a
run has come, so the figures of a run depend on the order of its messages: its first one, the last leg and the leg
before."""

import enum
from dataclasses import dataclass
from datetime import datetime
from typing import Optional

import onefold


class Tendency(enum.Enum):
    """How a runner's speed changes from leg to leg."""

    STARTED = 0
    FASTER = 1
    STEADY = 2
    SLOWER = 3


@dataclass
class Leg:
    """A part of a run, between two messages."""

    metres: int
    seconds: int


@dataclass
class Run:
    """A run that is under way. The last leg lies between its last two messages."""

    id: onefold.Int32
    since: datetime
    at: datetime
    metres: int
    messages: onefold.Int32
    now: Tendency
    leg: Optional[Leg]


@dataclass
class Watch:
    """What is known of a runner: the run that is under way."""

    run: Optional[Run]


@dataclass
class Message:
    """An event: how far a run has come."""

    user_id: str
    club: str
    run_id: onefold.Int32
    sequence_id: int
    timestamp_utc: datetime
    distance_meters: int


@dataclass
class Stats:
    user_id: str
    run_id: onefold.Int32
    club: str
    metres: int
    seconds: int
    messages: onefold.Int32


@dataclass
class Trend:
    user_id: str
    now: Tendency
    before: Tendency
    since: datetime


@dataclass
class Received:
    user_id: str
    sequence_id: int
    run_id: onefold.Int32
    at: datetime
    metres: int


def seconds(since, at):
    return int(at.timestamp()) - int(since.timestamp())


def tendency(leg, before):
    """Compares the speeds without a fraction: a difference below 5 % is none."""
    mine = 100 * leg.metres * before.seconds
    other = 100 * before.metres * leg.seconds
    if mine * 20 > other * 21:
        return Tendency.FASTER
    return Tendency.SLOWER if mine * 21 < other * 20 else Tendency.STEADY


def start():
    return Watch(None)


def step(watch, message):
    last = watch.run.now if watch.run else Tendency.STARTED
    run = watch.run if watch.run and watch.run.id == message.run_id else None
    is_new = run is None
    at = message.timestamp_utc
    if is_new:
        run = Run(message.run_id, at, at, message.distance_meters, 1, Tendency.STARTED, None)
    else:
        leg = Leg(message.distance_meters - run.metres, seconds(run.at, at))
        now = tendency(leg, run.leg) if run.leg else run.now
        run = Run(run.id, run.since, at, message.distance_meters, run.messages + 1, now, leg)
    writes = [
        onefold.put("messages", Received(message.user_id, message.sequence_id, message.run_id, at,
                                         message.distance_meters)),
        onefold.put("stats", Stats(message.user_id, message.run_id, message.club, run.metres,
                                   seconds(run.since, run.at), run.messages)),
    ]
    if is_new or run.now != last:
        writes.append(onefold.put("tendency", Trend(message.user_id, run.now, last, at)))
    return Watch(run), writes


if __name__ == "__main__":
    onefold.serve(start, step, context=Watch, event=Message,
                  tables={"stats": Stats, "tendency": Trend, "messages": Received})
