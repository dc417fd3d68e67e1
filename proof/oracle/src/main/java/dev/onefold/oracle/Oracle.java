package dev.onefold.oracle;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/// Says what the totals of an input are. Records go in one by one; totals and counts can be asked for at any
/// moment. It is one idea: the meaning of a record, and its place among those before. Not thread-safe.
///
/// ```java
/// Oracle oracle = Oracle.of(Path.of("pipeline.yaml"));
/// oracle.accept("trades.ndjson", 1, line);
/// oracle.totals("main").get(List.of("PV", "FXSpot")).get("value"); // "12345.67"
/// ```
public final class Oracle {
    private static final byte[] MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private static final int KEY_BYTES_MAX = 1_000;
    private static final int GROUP_BYTES_MAX = 2_000;
    private static final int RECORD_BYTES_MAX = 10 * 1024 * 1024;
    private static final long AHEAD_MS_MAX = 86_400_000;

    /// What became of a record. Which of the duplicates is called so depends on the order of arrival, the
    /// totals do not.
    public enum Outcome {
        HEADER,
        ACCEPTED,
        DUPLICATE,
        STALE,
        CONFLICTING,
        TOO_OLD,
        TOO_NEW,
        MALFORMED,
        /// It tells of no row.
        SILENT
    }

    /// A record that was refused. `line` counts from 1.
    public record Refusal(String source, long line, String reason) {}

    private record Row(BigDecimal version, State state, BigDecimal ms) {}

    private record Loser(List<String> key, BigDecimal version, State state) {}

    private record Event(List<String> key, BigDecimal version, State state, BigDecimal ms) {}

    private final Definition definition;
    private final Set<List<String>> paths;
    private final Map<String, List<@Nullable String>> headers = new HashMap<>();
    private final Map<List<String>, Row> rows = new HashMap<>();
    private final Map<List<String>, NavigableSet<Possible.Step>> steps = new HashMap<>();
    private final Set<Loser> losers = new HashSet<>();
    private final Map<Outcome, Long> outcomes = new HashMap<>();
    private final List<Refusal> malformed = new ArrayList<>();
    private final List<Refusal> outOfTime = new ArrayList<>();
    private final List<Row> forgotten = new ArrayList<>();
    private @Nullable BigDecimal seen;
    private @Nullable BigDecimal seenBefore;

    private Oracle(Definition definition) {
        this.definition = definition;
        paths = definition.derived().closure(definition.paths());
    }

    /// An oracle for a pipeline file.
    public static Oracle of(Path pipelineFile) throws IOException {
        return of(Files.readString(pipelineFile));
    }

    /// An oracle for the text of a pipeline file.
    public static Oracle of(String yaml) {
        return new Oracle(Definition.parse(yaml));
    }

    /// Takes all lines of a file, unpacking one whose name ends in `.gz`; its name is the source.
    public void acceptFile(Path file) throws IOException {
        String source = String.valueOf(file.getFileName());
        try (InputStream raw = new BufferedInputStream(Files.newInputStream(file));
                InputStream in = source.endsWith(".gz") ? new GZIPInputStream(raw, 1 << 16) : raw) {
            accept(source, in);
        }
    }

    /// Takes all records of a stream; what stands behind the last line's end is a record, too, if it is
    /// anything. A record of CSV goes on behind a line end in quotes, and its number is that of its first line.
    public void accept(String source, InputStream in) throws IOException {
        InputStream bytes = new BufferedInputStream(in, 1 << 16);
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        long number = 1;
        long lines = 1;
        for (int next = bytes.read(); next >= 0; next = bytes.read()) {
            boolean isEnd =
                    next == '\n' && !(definition.csv() && Csv.isOpen(line.toByteArray(), definition.delimiter()));
            lines += next == '\n' ? 1 : 0;
            if (isEnd) {
                accept(source, number, line.toByteArray());
                number = lines;
                line.reset();
            } else {
                line.write(next);
            }
        }
        if (line.size() > 0) {
            accept(source, number, line.toByteArray());
        }
    }

    /// What comes now comes after what came before: ids may be forgotten by now. Without this, none ever is.
    public void nextRound() {
        seenBefore = seen;
    }

    /// An id is kept for the horizon and a day behind the latest time that it has come with.
    private boolean isForgotten(BigDecimal ms) {
        BigDecimal horizon = definition.horizon();
        return horizon != null
                && definition.isSummed()
                && seenBefore != null
                && ms.add(horizon.movePointRight(3))
                                .add(BigDecimal.valueOf(AHEAD_MS_MAX))
                                .compareTo(seenBefore)
                        < 0;
    }

    /// Takes a record, a line without its end. The place (source and line) is its identity where the pipeline
    /// has no other.
    ///
    /// @param line counts from 1; of a CSV file with a header the header is 1
    public Outcome accept(String source, long line, byte[] record) {
        return accept(source, line, record, null);
    }

    /// The same for a record that arrived at a time, as a pipeline with a horizon needs it.
    ///
    /// @param arrivedMs milliseconds since 1970
    public Outcome accept(String source, long line, byte[] record, @Nullable Long arrivedMs) {
        Outcome outcome;
        try {
            outcome = read(source, line, record, arrivedMs);
        } catch (Refused refused) {
            malformed.add(new Refusal(source, line, refused.reason()));
            outcome = Outcome.MALFORMED;
        }
        outcomes.merge(outcome, 1L, Long::sum);
        return outcome;
    }

    private Outcome read(String source, long line, byte[] record, @Nullable Long arrivedMs) {
        if (definition.csv() && definition.columns() == null && line == 1) {
            headers.put(source, Csv.header(record, definition.delimiter()));
            return Outcome.HEADER;
        }
        if (record.length > RECORD_BYTES_MAX) {
            throw new Refused("more than 10 MiB");
        }
        List<@Nullable String> header = headerOf(source);
        if (header != null && Csv.isHeader(header, record, definition.delimiter())) {
            return Outcome.SILENT;
        }
        if (header != null && Csv.isOtherHeader(header, record, definition.delimiter())) {
            throw new Refused("another header");
        }
        Document document = document(source, record);
        Changes change = null;
        if (definition.isOfChanges() || !definition.key().isEmpty() && Changes.isSeed(document)) {
            Optional<Changes> found = Changes.of(document, definition);
            if (found.isEmpty()) {
                return Outcome.SILENT;
            }
            change = found.get();
            document = change.row();
        }
        return read(new Place(source, line), document, change, arrivedMs);
    }

    private @Nullable List<@Nullable String> headerOf(String source) {
        List<String> named = definition.columns();
        return !definition.csv() ? null : named == null ? headers.get(source) : new ArrayList<>(named);
    }

    private record Place(String source, long line) {}

    private Outcome read(Place place, Document read, @Nullable Changes change, @Nullable Long arrivedMs) {
        Derived derived = definition.derived();
        boolean isRemoved = change != null && change.isRemoved();
        Set<String> done = new HashSet<>(isRemoved ? read.fields().keySet() : Set.of());
        String source = place.source;
        long line = place.line;
        paths.forEach(read::at); // Refuses a field that comes twice, also one that is not needed further on.
        Document document = derived.derive(read.with(definition.spellings()), definition.identity(), done);
        List<String> key = definition.key().isEmpty() ? List.of(source, String.valueOf(line)) : key(document);
        BigDecimal version = change != null && change.version() != null ? change.version() : version(document);
        if (!isRemoved && definition.delete() != null) {
            document = derived.derive(document, definition.delete().paths(), done);
        }
        if (isRemoved || definition.delete() != null && definition.delete().holds(document)) {
            return fold(new Event(key, version, new State.Deleted(), BigDecimal.ZERO));
        }
        document = derived.derive(document, definition.filtered(), done);
        BigDecimal time = time(document);
        boolean isFiltered = definition.filter() != null && !definition.filter().holds(document);
        State state = isFiltered ? new State.Filtered() : state(derived.derive(document, definition.paths(), done));
        BigDecimal ms = time == null ? BigDecimal.ZERO : time.movePointRight(3).setScale(0, RoundingMode.FLOOR);
        if (time != null && definition.horizon() != null) {
            if (arrivedMs == null) {
                throw new IllegalStateException("There is a horizon, and no arrival of line " + line + " of " + source);
            }
            BigDecimal age = BigDecimal.valueOf(arrivedMs).subtract(ms);
            if (age.compareTo(definition.horizon().movePointRight(3)) > 0) {
                outOfTime.add(new Refusal(source, line, "too old"));
                return Outcome.TOO_OLD;
            }
            if (age.compareTo(BigDecimal.valueOf(-AHEAD_MS_MAX)) < 0) {
                outOfTime.add(new Refusal(source, line, "too new"));
                return Outcome.TOO_NEW;
            }
            if (isForgotten(ms)) {
                outOfTime.add(new Refusal(source, line, "its id may be forgotten"));
                return Outcome.TOO_OLD;
            }
            saw(ms, arrivedMs);
        } else if (time != null) {
            if (arrivedMs != null && isTooNew(ms.subtract(BigDecimal.valueOf(arrivedMs)))) {
                outOfTime.add(new Refusal(source, line, "too new"));
                return Outcome.TOO_NEW;
            }
            saw(ms, null);
        }
        return fold(new Event(key, version, state, ms));
    }

    /// Whether a time is further ahead of its arrival than a day, or than the shortest `keep`.
    private boolean isTooNew(BigDecimal aheadMs) {
        return definition.rollups().stream()
                .map(Definition.Rollup::keep)
                .anyMatch(keep -> keep != null
                        && aheadMs.compareTo(keep.movePointRight(3).min(BigDecimal.valueOf(AHEAD_MS_MAX))) > 0);
    }

    /// The latest time seen; with a horizon no time is taken to be later than its record.
    private void saw(BigDecimal ms, @Nullable Long arrivedMs) {
        BigDecimal certain = arrivedMs == null ? ms : ms.min(BigDecimal.valueOf(arrivedMs));
        seen = seen == null ? certain : seen.max(certain);
    }

    private Document document(String source, byte[] sent) {
        byte[] record = hasMark(sent) ? Arrays.copyOfRange(sent, MARK.length, sent.length) : sent;
        if (!definition.csv()) {
            return unwrapped(Json.read(record));
        }
        List<String> named = definition.columns();
        if (named != null) {
            return Csv.read(new ArrayList<>(named), record, definition.delimiter());
        }
        List<@Nullable String> header = headers.get(source);
        if (header == null) {
            throw new IllegalStateException("The header of " + source + " has not been seen: it is its line 1.");
        }
        return Csv.read(header, record, definition.delimiter());
    }

    /// Whether a line is a record of CSV, which has its end in it.
    public static boolean isCsv(byte[] line, char delimiter) {
        try {
            return !Csv.values(line, delimiter).isEmpty();
        } catch (Refused refused) {
            return false;
        }
    }

    private Document unwrapped(Document record) {
        Document event = record;
        if (Changes.isSeed(record)) {
            return event;
        }
        for (List<String> path : definition.unwrap()) {
            event = switch (event.at(path)) {
                case Document inner -> inner;
                case String text -> Json.read(text.getBytes(StandardCharsets.UTF_8));
                case null, default -> throw new Refused("nothing to unwrap in " + path);
            };
        }
        return event;
    }

    private static boolean hasMark(byte[] record) {
        return record.length >= MARK.length && Arrays.equals(record, 0, MARK.length, MARK, 0, MARK.length);
    }

    private List<String> key(Document document) {
        List<String> key = new ArrayList<>();
        for (Definition.Part part : definition.parts()) {
            key.add(part.text(document, definition.isOfChanges()));
        }
        if (Values.utf8Bytes(key) > KEY_BYTES_MAX) {
            throw new Refused("a key of more than 1,000 bytes");
        }
        return List.copyOf(key);
    }

    private BigDecimal version(Document document) {
        if (definition.version() == null) {
            return BigDecimal.ZERO;
        }
        if (!definition.composite().isEmpty()) {
            return composite(document);
        }
        BigDecimal version = version(document.at(definition.version()), definition.versionType(), document);
        if (version == null) {
            throw new Refused("the version is missing");
        }
        return version;
    }

    /// The parts one after the other, each with its digits.
    private BigDecimal composite(Document document) {
        int digits = 64 / definition.composite().size();
        BigDecimal all = BigDecimal.ZERO;
        for (Definition.Part part : definition.composite()) {
            BigDecimal number =
                    version(document.at(part.path()), part.type() == null ? "integer" : part.type(), document);
            if (number == null && "highest".equals(part.missing())) {
                number = BigDecimal.TEN.pow(digits).subtract(BigDecimal.ONE);
            } else if (number == null && part.missing() != null) {
                number = new BigDecimal(part.missing());
            } else if (number != null
                    && part.type() != null
                    && !Set.of("integer", "hlc").contains(part.type())) {
                number = number.movePointRight(9);
            }
            if (number == null || number.signum() < 0 || number.compareTo(BigDecimal.TEN.pow(digits)) >= 0) {
                throw new Refused("a part of the version is missing, below zero or too long");
            }
            all = all.movePointRight(digits).add(number);
        }
        return all;
    }

    private static @Nullable BigDecimal version(@Nullable Object value, String type, Document document) {
        BigDecimal time = type.equals("integer") ? Values.version(value) : document.time(value, type);
        return value == null || time == null ? time : Values.order(value, type, time);
    }

    private @Nullable BigDecimal time(Document document) {
        if (definition.time() == null) {
            return null;
        }
        BigDecimal time = document.time(document.at(definition.time()), definition.timeType());
        if (time == null) {
            throw new Refused("the time is missing");
        }
        return Values.likely(time);
    }

    private State state(Document document) {
        List<List<String>> groups = new ArrayList<>();
        List<List<@Nullable Object>> inputs = new ArrayList<>();
        for (Definition.Rollup rollup : definition.rollups()) {
            List<String> group =
                    rollup.levels().stream().map(level -> level.group(document)).toList();
            if (Values.utf8Bytes(group) + 2 * group.size() > GROUP_BYTES_MAX) {
                throw new Refused("a group of more than 2,000 bytes");
            }
            groups.add(group);
            List<@Nullable Object> ofRollup = new ArrayList<>();
            rollup.measures().forEach(measure -> ofRollup.add(measure.input(document)));
            inputs.add(ofRollup);
        }
        return new State.Contributing(groups, inputs);
    }

    private Outcome fold(Event event) {
        steps.computeIfAbsent(event.key(), _ -> new TreeSet<>()).add(new Possible.Step(event.version(), event.state()));
        Row stored = rows.get(event.key());
        if (stored != null && isForgotten(stored.ms())) {
            forgotten.add(stored);
            stored = null;
        }
        int order = stored == null ? 1 : event.version().compareTo(stored.version());
        if (stored == null || order > 0) {
            rows.put(event.key(), new Row(event.version(), event.state(), event.ms()));
            return Outcome.ACCEPTED;
        }
        if (order < 0) {
            return Outcome.STALE;
        }
        int greater = event.state().compareTo(stored.state());
        State winner = greater > 0 ? event.state() : stored.state();
        rows.put(event.key(), new Row(event.version(), winner, stored.ms().max(event.ms())));
        if (greater == 0) {
            return Outcome.DUPLICATE;
        }
        boolean isRemoval = event.state() instanceof State.Deleted || stored.state() instanceof State.Deleted;
        if (isRemoval && definition.isOfChanges() && definition.version() != null) {
            return greater > 0 ? Outcome.ACCEPTED : Outcome.STALE; // The removal of a row has the row's version.
        }
        State loser = greater > 0 ? stored.state() : event.state();
        losers.add(new Loser(event.key(), event.version().stripTrailingZeros(), loser));
        return Outcome.CONFLICTING;
    }

    /// The names of the roll-ups, in the order of the file; a single one is called `main`.
    public List<String> rollups() {
        return definition.rollups().stream().map(Definition.Rollup::name).toList();
    }

    /// Whether a leaf is in a time bucket that is kept: one that holds the latest time less `keep`, or a later
    /// one.
    private boolean isKept(Definition.Rollup rollup, List<String> leaf) {
        if (rollup.keep() == null || seen == null) {
            return true;
        }
        BigDecimal from = seen.movePointLeft(3).subtract(rollup.keep());
        String first =
                rollup.levels().getFirst().bucketOf(from, definition.spellings().zone());
        return leaf.getFirst().compareTo(first) >= 0;
    }

    /// For each group at each depth the figures by name, null where there is none. The grand total is the empty
    /// list and is always there; other groups have at least one row. In the order of their UTF-8 bytes, parents
    /// first.
    public SortedMap<List<String>, Map<String, @Nullable String>> totals(String rollup) {
        int number = rollups().indexOf(rollup);
        if (number < 0) {
            throw new IllegalArgumentException("There is no roll-up " + rollup + ", there is " + rollups() + ".");
        }
        SortedMap<List<String>, List<List<@Nullable Object>>> members = new TreeMap<>(State.GROUPS);
        members.put(List.of(), new ArrayList<>());
        List<Row> counting = new ArrayList<>(rows.values());
        counting.addAll(forgotten);
        Definition.Rollup definedAs = definition.rollups().get(number);
        for (Row row : counting) {
            if (row.state() instanceof State.Contributing contributing
                    && isKept(definedAs, contributing.groups().get(number))) {
                List<String> leaf = contributing.groups().get(number);
                for (int depth = 0; depth <= leaf.size(); depth++) {
                    members.computeIfAbsent(leaf.subList(0, depth), _ -> new ArrayList<>())
                            .add(contributing.inputs().get(number));
                }
            }
        }
        SortedMap<List<String>, Map<String, @Nullable String>> totals = new TreeMap<>(State.GROUPS);
        members.forEach((group, inputs) -> totals.put(List.copyOf(group), figures(definedAs, inputs)));
        return Collections.unmodifiableSortedMap(totals);
    }

    private static Map<String, @Nullable String> figures(
            Definition.Rollup rollup, List<List<@Nullable Object>> inputs) {
        List<@Nullable String> stored = new ArrayList<>();
        for (int index = 0; index < rollup.measures().size(); index++) {
            List<@Nullable Object> column = new ArrayList<>();
            for (List<@Nullable Object> row : inputs) {
                column.add(row.get(index));
            }
            stored.add(rollup.measures().get(index).of(column));
        }
        Map<String, @Nullable String> figures = new LinkedHashMap<>();
        rollup.figures().keySet().forEach(name -> figures.put(name, figure(rollup, name, stored)));
        return Collections.unmodifiableMap(figures);
    }

    private static @Nullable String figure(Definition.Rollup rollup, String name, List<@Nullable String> stored) {
        return rollup.figures().get(name) instanceof Formula formula
                ? formula.of(
                        other -> figure(rollup, other, stored),
                        measure -> stored.get(rollup.measures().indexOf(measure)))
                : stored.get(rollup.measures().indexOf(rollup.figures().get(name)));
    }

    /// What may be seen while these records are on their way.
    public Possible possible() {
        return new Possible(rollups(), steps);
    }

    /// The version of each key: a number, of a time its seconds, and zero where there are none.
    public Map<List<String>, BigDecimal> versions() {
        Map<List<String>, BigDecimal> versions = new HashMap<>();
        rows.forEach((key, row) -> versions.put(key, row.version()));
        return versions;
    }

    /// How many records had this outcome.
    public long count(Outcome outcome) {
        return outcomes.getOrDefault(outcome, 0L);
    }

    /// How many records changed the state of their key when they came.
    public long accepted() {
        return count(Outcome.ACCEPTED);
    }

    /// How many records are events, whatever became of them: all but headers, refused ones and those out of
    /// time.
    public long events() {
        return accepted() + count(Outcome.DUPLICATE) + count(Outcome.STALE) + count(Outcome.CONFLICTING);
    }

    /// The refused records, in the order they came.
    public List<Refusal> malformed() {
        return List.copyOf(malformed);
    }

    /// The records that were too old or too new, in the order they came.
    public List<Refusal> outOfTime() {
        return List.copyOf(outOfTime);
    }

    /// How many different contents have lost against another of their version so far. A version that was
    /// already out of date when it came takes no part.
    public long conflicts() {
        return losers.size();
    }
}
