package dev.onefold.test;

import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.Arrival;
import dev.onefold.core.pipeline.Pipeline;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/// Records as a pipeline reads them.
///
/// @param items by the number of their line, from 1
/// @param malformed what is wrong with the others
record Sample(SortedMap<Integer, Item> items, List<String> malformed) {
    /// A record.
    ///
    /// @param line from 1
    /// @param key bytes of its key, as an event has them
    /// @param version as in [VersionBytes]
    /// @param content see [Arrival]
    record Item(int line, String text, Tuple key, byte[] version, byte[] content) {
        BigInteger number() {
            return VersionBytes.number(version, 0);
        }

        /// The event that comes so many deliveries after the first one.
        Arrival arrival(int delivery) {
            byte[] origin = (line + "/" + delivery).getBytes(StandardCharsets.UTF_8);
            return new Arrival(version, content, origin, Arrival.Way.ARRIVED);
        }
    }

    /// Reads lines; the first one of CSV is the header.
    static Sample of(Pipeline pipeline, List<String> lines) {
        Decoder decoder = new Decoder(pipeline);
        boolean isHeader = Decoder.wantsHeader(pipeline);
        SortedMap<Integer, Item> items = new TreeMap<>();
        List<String> malformed = new ArrayList<>();
        int number = 0;
        for (String line : lines) {
            number++;
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            int length = bytes.length;
            bytes = Arrays.copyOf(bytes, length + Decoder.PADDING);
            Malformed wrong = isHeader ? decoder.header(bytes, 0, length) : decoder.decode(bytes, 0, length);
            if (wrong != null) {
                malformed.add("line " + number + ": " + wrong.message());
            } else if (!isHeader) {
                items.put(number, item(number, line, decoder.event()));
            }
            isHeader = false;
        }
        return new Sample(items, malformed);
    }

    private static Item item(int number, String line, Event event) {
        byte[] content = event.kind == Event.Kind.COUNTED
                ? Arrival.counted(event.data, event.contentFrom, event.contentTo)
                : Arrival.filtered();
        return new Item(
                number,
                line,
                new Tuple(Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo)),
                Arrays.copyOfRange(event.data, event.versionFrom, event.versionTo),
                content);
    }

    Optional<Item> item(int line) {
        return Optional.ofNullable(items.get(line));
    }
}
