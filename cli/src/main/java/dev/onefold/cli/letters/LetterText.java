package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// A dead letter as text.
record LetterText(DeadLetter letter) {
    /// `too large`.
    String reason() {
        return Words.of(letter.reason());
    }

    /// `trades.ndjson:1234`; the line is left out where it is not known.
    String place(Caller caller) {
        String line = letter.place().line() > 0
                ? ":" + letter.place().line()
                : ", byte " + Words.count(letter.place().offset());
        return caller.shownSource(letter.place().source()) + line;
    }

    /// What is known about it; without its record.
    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", letter.id());
        json.put("reason", reason());
        json.put("message", letter.message());
        json.put("source", letter.place().source());
        json.put("line", letter.place().line());
        json.put("offset", letter.place().offset());
        json.put("bytes", letter.bytes());
        json.put("kept", letter.kept());
        json.put("content", Words.of(letter.content()));
        json.put("edited", letter.edited());
        json.put("sha256", letter.sha256());
        json.put("at", letter.at());
        return json;
    }

    /// The same with the record: as base64, and as text if it is UTF-8.
    Map<String, Object> json(byte[] record) {
        Map<String, Object> json = json();
        json.put("base64", Base64.getEncoder().encodeToString(record));
        text(record).ifPresent(text -> json.put("text", text));
        return json;
    }

    /// The text that a record is, if it is UTF-8.
    static Optional<String> text(byte[] record) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(record))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }
}
