package dev.onefold.core.letter;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Key;
import java.util.Arrays;
import java.util.List;

/// Decides whether an edit may be redriven in place of a dead letter's record. An editor that failed must not
/// take a letter away, and neither must the edit of another letter.
public final class Edits {
    private Edits() {}

    /// Requires that an edit is a record of the letter's key.
    ///
    /// @param decoder of the pipeline, which has the columns of the letter's source
    /// @param content of the letter; empty if nothing of it is kept
    /// @throws IllegalArgumentException if it is empty or, unless `keys` allows that, of another key
    public static void require(DeadLetter letter, byte[] content, byte[] edit, Decoder decoder, DeadLetters.Keys keys) {
        boolean blank = true;
        for (byte one : edit) {
            blank &= one >= 0 && one <= ' ';
        }
        if (blank) {
            throw new IllegalArgumentException(
                    "The edit of dead letter " + letter.id() + " is empty. Nothing was changed.");
        }
        if (decoder.isSilent(edit)) {
            throw new IllegalArgumentException("The edit of dead letter " + letter.id()
                    + " tells of no row, so the letter would go and nothing would count. Nothing was changed.");
        }
        if (keys == DeadLetters.Keys.ANY) {
            return;
        }
        byte[] key = decoder.identity(edit).key();
        if (key == null) {
            return; // It is about to be rejected, and the letter keeps its record.
        }
        Pipeline pipeline = decoder.pipeline();
        String wanted = switch (letter.content()) {
            case RECORD -> {
                byte[] original = decoder.identity(RecordKind.UNMARKED, content).key();
                yield original == null || Arrays.equals(original, key) ? "" : "the key " + text(pipeline, original);
            }
            case SUMMARY -> RowSummary.hasKey(content, Key.parts(pipeline, key)) ? "" : "another one";
            case NOTHING -> "";
        };
        if (!wanted.isEmpty()) {
            throw new IllegalArgumentException(
                    "The edit of dead letter " + letter.id() + " has the key "
                            + text(pipeline, key) + ", the letter's record " + wanted
                            + ". Nothing was changed. If the record was sent under a wrong key, allow another one (--other-key).");
        }
    }

    private static String text(Pipeline pipeline, byte[] key) {
        List<String> parts = Key.parts(pipeline, key);
        return "'" + String.join("', '", parts) + "'";
    }
}
