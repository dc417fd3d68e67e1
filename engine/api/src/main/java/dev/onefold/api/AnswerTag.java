package dev.onefold.api;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.query.Answer;
import dev.onefold.core.totals.Ranked;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/// Names a cut by its content: two answers to one query have the same tag if only their times differ.
/// Positions alone are not enough, because a redrive and a rebuild change totals and no position.
final class AnswerTag {
    private static final int BYTES = 16;

    private final MessageDigest digest = Sha256.digest();

    private AnswerTag() {}

    static String of(Answer answer) {
        return new AnswerTag().with(answer);
    }

    /// The tag of a part of a level: other groups that come or go change it, too.
    static String of(Ranked ranked) {
        AnswerTag tag = new AnswerTag();
        tag.add(Integer.toString(ranked.below()));
        return tag.with(ranked.answer());
    }

    private String with(Answer answer) {
        add(answer.rollup());
        answer.levels().forEach(this::add);
        answer.measures().forEach(this::add);
        for (Answer.Line line : answer.lines()) {
            add(Integer.toString(line.group().size()));
            line.group().forEach(this::add);
            line.values().forEach(this::add);
        }
        for (Answer.Progress source : answer.cut().sources()) {
            add(source.source());
            add(Long.toString(source.records()));
            add(Long.toString(source.bytes()));
        }
        return HexFormat.of().formatHex(digest.digest(), 0, BYTES);
    }

    private void add(@Nullable BigDecimal value) {
        add(value == null ? "" : value.toString());
    }

    private void add(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII)); // No two lists of texts have one form.
        digest.update(bytes);
    }
}
