package dev.onefold.api;

import dev.onefold.api.reading.JsonReader;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.document.Node;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.json.JsonRecord;
import dev.onefold.core.state.Key;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The dead letters of an engine in another process.
final class RemoteLetters implements DeadLetters {
    /// Ids in a request: they are in its first line, and proxies limit its length, many to 8 KiB.
    private static final int PURGED_MAX = 200;

    private final RemoteEngine engine;

    RemoteLetters(RemoteEngine engine) {
        this.engine = engine;
    }

    @Override
    public List<DeadLetter> list(long after, int limit) {
        List<DeadLetter> letters = new ArrayList<>();
        while (true) {
            int wanted = Math.min(limit - letters.size(), PAGE);
            long last = letters.isEmpty() ? after : letters.getLast().id();
            List<Node> page = engine.get("/dead-letters?after=" + last + "&limit=" + wanted)
                    .get("letters")
                    .items();
            page.forEach(letter -> letters.add(EngineJson.LETTER.read(letter)));
            if (page.size() < PAGE || letters.size() >= limit) {
                return letters;
            }
        }
    }

    @Override
    public long size() {
        return Long.parseLong(engine.get("/dead-letters?limit=0").get("size").text());
    }

    @Override
    public byte[] record(long id) {
        return engine.ask(Client.Way.GET, "/dead-letters/" + id + "/record", null, InputStream::readAllBytes);
    }

    @Override
    public Optional<byte[]> edited(long id) {
        try {
            return Optional.of(
                    engine.ask(Client.Way.GET, "/dead-letters/" + id + "/edited", null, InputStream::readAllBytes));
        } catch (Client.Missing none) {
            return Optional.empty();
        }
    }

    @Override
    public List<OfKey> ofKey(List<String> key, int limit) {
        RemoteEngine.requireGiven(key, "The parts of the key");
        DeadLetters.requireKeyLimit(limit);
        return engine.underOneDefinition(pipeline -> {
            Key.bytes(pipeline, key); // Without parts, the request would be for the letters of all keys.
            return engine
                    .get("/dead-letters?limit=" + limit + "&" + RemoteEngine.parameters(key))
                    .get("letters")
                    .items()
                    .stream()
                    .map(letter -> new OfKey(EngineJson.LETTER.read(letter), JsonReader.version(pipeline, letter)))
                    .toList();
        });
    }

    @Override
    public Redriven redrive(long id, byte @Nullable [] edited, Keys keys) {
        Objects.requireNonNull(keys, "Whether another key is allowed is null");
        String target =
                "/dead-letters/" + id + "/redrive?edited=" + (edited != null) + "&other-key=" + (keys == Keys.ANY);
        return engine.post(
                target,
                edited,
                answer -> JsonRecord.constant(
                        Redriven.class, answer.get("outcome").text()));
    }

    @Override
    public int purge(List<Long> ids) {
        RemoteEngine.requireGiven(ids, "The ids of the letters");
        int purged = 0;
        for (int from = 0; from < ids.size(); from += PURGED_MAX) {
            String some = ids.subList(from, Math.min(ids.size(), from + PURGED_MAX)).stream()
                    .map(id -> "id=" + id)
                    .collect(Collectors.joining("&"));
            purged += engine.post(
                    "/dead-letters/purge?" + some,
                    null,
                    answer -> Integer.parseInt(answer.get("purged").text()));
        }
        return purged;
    }
}
