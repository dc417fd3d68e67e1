package dev.onefold.aws.letter;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.Version;
import dev.onefold.core.json.Json;
import dev.onefold.core.keyed.Change;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Dead letters of events that a function folds. A letter is kept once for a reason, a key, a version and a content,
/// whatever the place of the record that has them. An event's origin is the hash of the last three, and its place.
public final class KeyLetters {
    private static final int HASH = 32;
    private static final String SEPARATOR = "\0";

    private KeyLetters() {}

    /// Where an event came from, and what it is.
    public static byte[] origin(byte[] key, byte[] version, byte[] content, Arrival arrival) {
        byte[] hash = Sha256.of(
                new BytesOut().bytes(key).bytes(version).bytes(content).toBytes());
        byte[] place = String.join(SEPARATOR, arrival.shard(), arrival.sequence(), Long.toString(arrival.subSequence()))
                .getBytes(StandardCharsets.UTF_8);
        byte[] origin = Arrays.copyOf(hash, HASH + place.length);
        System.arraycopy(place, 0, origin, HASH, place.length);
        return origin;
    }

    /// By which the letter of an event is known.
    public static String identity(Reason reason, byte[] origin) {
        return "process/" + reason + "/" + HexFormat.of().formatHex(origin, 0, HASH);
    }

    /// A letter as it is kept.
    ///
    /// @param record that came; `null` if the letter is of another one
    public static Letter of(Change.Letter letter, Pipeline pipeline, byte[] key, @Nullable Arrival record) {
        byte[] version = Objects.requireNonNull(letter.version(), "A folded event has a version");
        byte[] content = letter.content();
        Arrival arrival = content == null
                ? Objects.requireNonNull(record)
                : place(letter.origin(), summary(pipeline, key, version, content));
        return new Letter(
                identity(letter.why().reason(), letter.origin()),
                letter.why().reason(),
                letter.why().message(),
                arrival,
                content == null ? DeadLetter.Content.RECORD : DeadLetter.Content.SUMMARY,
                content == null ? new RecordIdentity(key, version).keyHash() : 0,
                0);
    }

    /// The letter of a key of which something that is kept is not there.
    public static Letter broken(Pipeline pipeline, KeyItem head, String what) {
        Map<String, @Nullable Object> summary = new LinkedHashMap<>();
        summary.put("key", Key.parts(pipeline, head.key()));
        summary.put("version", Version.of(pipeline, head.head().version()).toString());
        summary.put("kind", "key");
        summary.put("context", Value.read(head.head().context()).plain());
        byte[] data = Json.of(summary).getBytes(StandardCharsets.UTF_8);
        return new Letter(
                "key/" + Sha256.hex(head.key()) + "/" + head.step(),
                Reason.REFUSED,
                what + ", as after a restore. The key goes on from its context, which all of its events are in; events"
                        + " up to version " + summary.get("version") + " that come from now on are too late",
                new Arrival("key", head.step(), 0, data),
                DeadLetter.Content.SUMMARY,
                new RecordIdentity(head.key(), head.head().version()).keyHash(),
                0);
    }

    private static Arrival place(byte[] origin, byte[] data) {
        String[] place = new String(origin, HASH, origin.length - HASH, StandardCharsets.UTF_8).split(SEPARATOR, -1);
        return new Arrival(place[0], place[1], Long.parseLong(place[2]), data);
    }

    private static byte[] summary(Pipeline pipeline, byte[] key, byte[] version, byte[] content) {
        Map<String, @Nullable Object> summary = new LinkedHashMap<>();
        summary.put("key", Key.parts(pipeline, key));
        summary.put("version", Version.of(pipeline, version).toString());
        summary.put("kind", content[0] == 0 ? "filtered" : "counted");
        if (content[0] != 0) {
            summary.put(
                    "event",
                    Value.read(Arrays.copyOfRange(content, 1, content.length)).plain());
        }
        return Json.of(summary).getBytes(StandardCharsets.UTF_8);
    }
}
