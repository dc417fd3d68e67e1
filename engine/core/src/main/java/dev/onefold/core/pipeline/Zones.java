package dev.onefold.core.pipeline;

import dev.onefold.core.bytes.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Hashes of the rules that a Java has for time zones. The rules change with its tzdata, and a record folded by other
/// rules may be of another day than the records before it.
final class Zones {
    private static final Instant FROM = Instant.parse("1900-01-01T00:00:00Z");
    private static final Instant TO = Instant.parse("2200-01-01T00:00:00Z");
    private static final int DIGITS = 16;
    private static final Pattern FIXED = Pattern.compile("(UTC|GMT|UT)([+-].*)?");

    /// By the id of the zone. A Java has the same rules for as long as it runs.
    private static final Map<String, String> HASHES = new ConcurrentHashMap<>();

    private Zones() {}

    /// The hash of each zone that a pipeline names, by the id of the zone. A fixed offset has none.
    ///
    /// @param stated hashes that are taken as they are; the others are those of the running Java
    static SortedMap<String, String> of(Input input, Fold fold, Map<String, String> stated) {
        SortedMap<String, String> hashes = new TreeMap<>();
        Stream.concat(
                        Stream.ofNullable(input.spellings().zone()),
                        Rollups.of(fold).all().stream()
                                .flatMap(rollup -> rollup.levels().stream())
                                .map(level -> level.source() instanceof Level.Source.Calendar its ? its.zone() : null))
                .filter(zone -> zone != null && !isFixed(zone))
                .forEach(zone -> {
                    String ofThisJava = HASHES.computeIfAbsent(zone.getId(), _ -> hash(zone.getRules()));
                    hashes.put(zone.getId(), stated.getOrDefault(zone.getId(), ofThisJava));
                });
        return hashes;
    }

    /// Not by its rules: a later tz database may give a zone with one offset another one.
    private static boolean isFixed(ZoneId zone) {
        return zone instanceof ZoneOffset || FIXED.matcher(zone.getId()).matches();
    }

    /// The first digits, in hex, of the hash of the offset at the beginning of 1900 and of all its changes until the
    /// end of 2199.
    static String hash(ZoneRules rules) {
        StringBuilder text = new StringBuilder(rules.getOffset(FROM).getId());
        ZoneOffsetTransition next = rules.nextTransition(FROM);
        while (next != null && next.getInstant().isBefore(TO)) {
            text.append('\n').append(next.toEpochSecond()).append(next.getOffsetAfter());
            next = rules.nextTransition(next.getInstant());
        }
        return Sha256.hex(text.toString().getBytes(StandardCharsets.US_ASCII)).substring(0, DIGITS);
    }
}
