"""A function per key of Onefold, in Python 3.8 or newer. Copy this file beside yours.

    from dataclasses import dataclass
    import onefold

    @dataclass
    class Run:                      # The context of a key.
        metres: int

    @dataclass
    class Fix:                      # An event.
        user_id: str
        distance_meters: int

    @dataclass
    class Stats:                    # A row of the table stats.
        user_id: str
        metres: int

    def start():
        return Run(0)

    def step(run, fix):
        run = Run(run.metres + fix.distance_meters)
        return run, onefold.put("stats", Stats(fix.user_id, run.metres))

    onefold.serve(start, step, context=Run, event=Fix, tables={"stats": Stats})

The pipeline file names the command: `process: {command: [python3, runs.py], …}`.

Components are of bool, int (a long of 64 bits), onefold.Int32, Decimal, str, datetime (with a time zone, up to
microseconds), date, timedelta, an Enum (by its names), a dataclass, and Optional or List of these. A component that
has another name in the record says so: `user: str = onefold.named("user_id")`, or `"position.lat"` for a path.

The function is pure: its result depends on its arguments alone, and it does not change them. It has 1 second for each
event. An exception makes the event a dead letter. What it prints goes to the log.
"""

import dataclasses
import datetime
import decimal
import enum
import json
import os
import re
import signal
import sys
import time
import typing

__all__ = ["serve", "put", "remove", "named", "Int32"]

Int32 = typing.NewType("Int32", int)

_FLUSH_SECONDS = 0.05  # An answer is awaited for 1 second.
_FLUSH_ANSWERS = 64
_CALL_SECONDS = 3  # A process that hangs ends by itself, because Onefold may have ended.
_UTC = datetime.timezone.utc
_READS_ISO = sys.version_info >= (3, 11)  # With a Z at the end.
_SCALARS = {
    bool: "boolean",
    int: "long",
    Int32: "int",
    decimal.Decimal: "decimal",
    str: "text",
    datetime.datetime: "time",
    datetime.date: "date",
    datetime.timedelta: "duration",
}
_DURATION = re.compile(r"P(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d{1,6})0*)?S)?)?")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6})0*)?)?Z")
_EXACT = decimal.Context(prec=200)


class _Write:
    __slots__ = ("what", "table", "value")

    def __init__(self, what, table, value):
        self.what, self.table, self.value = what, table, value


def put(table, row):
    """Puts a row into a table, in place of the row with the same key."""
    return _Write("put", table, row)


def remove(table, **key):
    """Removes the row with this key: remove("stats", user_id="u1", run_id=7)."""
    return _Write("remove", table, key)


def named(name, **options):
    """A component with another name in the record, or with its path: user: str = named("user_id")."""
    return dataclasses.field(metadata={"onefold": name}, **options)


def serve(start, step, context, event, tables):
    """Answers Onefold on standard input and output, until its input ends.

    start    makes the context of a key without events
    step     takes a context and an event; returns the next context, or a tuple of it and the writes
    context, event
             dataclasses
    tables   the dataclass of the rows of each table
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for Onefold.
    decimal.getcontext().prec = 200  # No sum is rounded. Onefold refuses more than 38 digits.
    out = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    os.dup2(2, 1)  # What the function prints, or a program that it starts.
    sys.stdout = sys.stderr
    types = _Types()
    read_context, read_event = types.reader(context), types.reader(event)
    write_context = types.writer(context)
    rows = {name: types.writer(row) for name, row in tables.items()}
    keys = {name: types.components(row) for name, row in tables.items()}
    hello = {
        "onefold": 1,
        "context": types.text(context),
        "event": types.text(event),
        "tables": {name: types.text(row) for name, row in tables.items()},
        "start": write_context(start()),
    }

    def answer(result):
        if type(result) is not tuple:
            return [write_context(result)]
        answers = [write_context(result[0])]
        for each in result[1:]:
            for write in each if isinstance(each, (list, tuple)) else (each,):
                if write.table not in rows:
                    raise ValueError("There is no table %r; there is %s" % (write.table, ", ".join(rows)))
                if write.what == "put":
                    answers.append(["put", write.table, rows[write.table](write.value)])
                else:
                    known = keys[write.table]
                    key = {known[name][0]: known[name][1](value) for name, value in write.value.items()}
                    answers.append(["remove", write.table, key])
        return answers

    def limit(seconds):
        if hasattr(signal, "alarm"):
            signal.alarm(seconds)

    def send(value):
        out.write(json.dumps(value, separators=(",", ":"), check_circular=False).encode("utf-8") + b"\n")
        out.flush()

    send(hello)
    clock = time.monotonic
    for line in sys.stdin.buffer:
        limit(_CALL_SECONDS)
        answers = []
        until = clock() + _FLUSH_SECONDS
        for chain in json.loads(line)["steps"]:
            now = chain[0]
            for each in chain[1:]:
                try:
                    stepped = answer(step(read_context(now), read_event(each)))
                    now = stepped[0]
                    answers.append(stepped)
                except Exception as e:
                    answers.append(_described(e))
                if len(answers) >= _FLUSH_ANSWERS or clock() > until:
                    send({"answers": answers})
                    limit(_CALL_SECONDS)
                    answers = []
                    until = clock() + _FLUSH_SECONDS
        if answers:
            send({"answers": answers})
        limit(0)


def _described(e):
    where = e.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    place = "" if where is None else ", at %s:%d" % (os.path.basename(where.tb_frame.f_code.co_filename), where.tb_lineno)
    text = "%s: %s%s" % (type(e).__name__, str(e)[:500], place)
    return text.encode("utf-8", "replace").decode("utf-8")


class _Types:
    """Makes of each dataclass the functions that read and write it: one expression, which Python compiles once."""

    def __init__(self):
        self.names = {
            "time": _read_time, "duration": _read_duration, "decimal": decimal.Decimal,
            "date": datetime.date.fromisoformat, "wrong": _wrong, "put_time": _write_time,
            "put_duration": _write_duration, "put_decimal": _write_decimal, "put_date": _write_date,
            "put_int": _write_int, "put_str": _write_str,
        }
        self.known = {}

    def fields(self, record):
        if not dataclasses.is_dataclass(record):
            raise TypeError("%r is not a dataclass" % (record,))
        hints = typing.get_type_hints(record)
        return [(f.name, f.metadata.get("onefold", f.name), hints[f.name]) for f in dataclasses.fields(record)]

    def components(self, record):
        made = {}
        for name, stored, kind in self.fields(record):
            writer = self.compiled("lambda v: " + self.write("v", kind))
            made[name] = made[stored] = (stored, writer)
        return made

    def text(self, kind):
        if kind in _SCALARS:
            return _SCALARS[kind]
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return "(" + "|".join(each.name for each in kind) + ")"
        item, is_list = _argument(kind)
        if item is not None:
            return "[" + self.text(item) + "]" if is_list else self.text(item) + "?"
        return "{" + ", ".join("%s: %s" % (stored, self.text(t)) for _, stored, t in self.fields(kind)) + "}"

    def reader(self, record):
        return self.compiled("lambda d: " + self.read("d", record))

    def writer(self, record):
        return self.compiled("lambda v: " + self.write("v", record))

    def compiled(self, code):
        return eval(code, self.names)

    def name(self, value):
        name = self.known.get(value)
        if name is None:
            name = self.known[value] = "n%d" % len(self.known)
            self.names[name] = value
        return name

    def read(self, of, kind):
        if kind in (bool, str):
            return of
        if kind is int or kind is Int32:
            return "(i if type(i := %s) is int else int(i))" % of
        if kind in _SCALARS:
            return "%s(%s)" % (_SCALARS[kind], of)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return "%s[%s]" % (self.name(kind), of)
        item, is_list = _argument(kind)
        if item is not None:
            if is_list:
                return "[%s for each in %s]" % (self.read("each", item), of)
            return "None if %s is None else %s" % (of, self.read(of, item))
        parts = ["(%s)" % self.read("%s[%r]" % (of, stored), t) for _, stored, t in self.fields(kind)]
        if any(getattr(f, "kw_only", False) for f in dataclasses.fields(kind)):
            parts = ["%s=%s" % (f.name, part) for f, part in zip(dataclasses.fields(kind), parts)]
        return "%s(%s)" % (self.name(kind), ", ".join(parts))

    def write(self, of, kind):
        if kind is bool:
            return "(%s if type(%s) is bool else wrong(%s, 'bool'))" % (of, of, of)
        if kind is str:
            return "(%s if type(%s) is str and %s.isascii() else put_str(%s))" % (of, of, of, of)
        if kind is int or kind is Int32:
            return "(%s if type(%s) is int else put_int(%s))" % (of, of, of)
        if kind in _SCALARS:
            return "put_%s(%s)" % (_SCALARS[kind], of)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return "%s(%s).name" % (self.name(kind), of)
        item, is_list = _argument(kind)
        if item is not None:
            if is_list:
                return "[%s for i in %s]" % (self.write("i", item), of)
            return "(None if %s is None else %s)" % (of, self.write(of, item))
        parts = ["%r: %s" % (stored, self.write("%s.%s" % (of, name), t)) for name, stored, t in self.fields(kind)]
        checked = "{%s} if type(%s) is %s else wrong(%s, %r)"
        return "(" + checked % (", ".join(parts), of, self.name(kind), of, kind.__name__) + ")"


def _argument(kind):
    """The type in an Optional or a List, and whether it is a list."""
    origin, arguments = getattr(kind, "__origin__", None), getattr(kind, "__args__", ())
    if origin is list:
        return arguments[0], True
    if len(arguments) == 2 and type(None) in arguments:
        return [each for each in arguments if each is not type(None)][0], False
    if kind is float:
        raise TypeError("float is not exact; use Decimal")
    if not dataclasses.is_dataclass(kind):
        raise TypeError("%r cannot be a component; use bool, int, Decimal, str, datetime, date, timedelta, an Enum,"
                        " a dataclass, and Optional or List of these" % (kind,))
    return None, False


def _wrong(value, wanted):
    raise TypeError("%r is a %s, and %s is wanted" % (value, type(value).__name__, wanted))


def _write_str(value):
    if type(value) is not str:
        _wrong(value, "str")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        _wrong(value, "a text of whole characters")
    return value


def _write_int(value):
    if not isinstance(value, int) or isinstance(value, bool):
        _wrong(value, "int")
    return int(value)


def _write_decimal(value):
    if type(value) is int:
        return value
    if not isinstance(value, decimal.Decimal) or not value.is_finite():
        _wrong(value, "a finite Decimal")
    return format(_EXACT.normalize(value), "f") if value else "0"  # As Onefold writes it.


def _read_time(text):
    if _READS_ISO and len(text) <= 27:
        return datetime.datetime.fromisoformat(text)
    parts = _TIME.fullmatch(text)
    if parts is None:
        raise ValueError("The time %s has parts of a microsecond, or is not in the years 1 to 9999: a datetime"
                         " cannot hold it. Take it as str" % text)
    minutes, seconds, micros = parts.groups()
    return datetime.datetime.fromisoformat(
        "%s:%s.%s+00:00" % (minutes, seconds or "00", (micros or "").ljust(6, "0")))


def _write_time(value):
    if not isinstance(value, datetime.datetime) or value.tzinfo is None:
        _wrong(value, "a datetime with a time zone")
    return (value if value.tzinfo is _UTC else value.astimezone(_UTC)).isoformat()[:-6] + "Z"


def _write_date(value):
    if type(value) is not datetime.date:
        _wrong(value, "date")
    return value.isoformat()


def _read_duration(text):
    parts = _DURATION.fullmatch(text)
    if parts is None:
        raise ValueError("The duration %s has parts of a microsecond: a timedelta cannot hold it. Take it as str" % text)
    days, hours, minutes, sign, seconds, micros = parts.groups()
    rest = datetime.timedelta(seconds=int(seconds or 0), microseconds=int((micros or "").ljust(6, "0")))
    whole = datetime.timedelta(days=int(days or 0), hours=int(hours or 0), minutes=int(minutes or 0))
    return whole - rest if sign else whole + rest


def _write_duration(value):
    if not isinstance(value, datetime.timedelta):
        _wrong(value, "timedelta")
    micros = (value.days * 86400 + value.seconds) * 1000000 + value.microseconds
    sign = "-" if micros < 0 else ""
    return "PT%s%d.%06dS" % (sign, abs(micros) // 1000000, abs(micros) % 1000000)
