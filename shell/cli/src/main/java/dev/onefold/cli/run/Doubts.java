package dev.onefold.cli.run;

import dev.onefold.cli.show.Words;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Where records show that something else is probably meant than what the pipeline file says, with the line to write.
record Doubts(Pipeline pipeline, EmbeddedEngine engine) {
    /// Sentences, each with a line end.
    String text() {
        List<String> doubts = new ArrayList<>();
        ties().ifPresent(doubts::add);
        decomposed().ifPresent(doubts::add);
        return String.join("", doubts.stream().map(each -> each + ".\n").toList());
    }

    /// Versions that several changes of a key have, as in one transaction.
    private Optional<String> ties() {
        long ties = engine.counts().conflicting();
        if (ties == 0
                || !(pipeline.input().identity() instanceof Identity.Versioned versioned)
                || versioned.version() == null
                || !versioned.composite().isEmpty()) {
            return Optional.empty();
        }
        FieldPath version = versioned.version();
        boolean isOfMaxwell = version.names().getLast().equals("xid");
        String first = versioned.versionTime() == null
                ? version.toString()
                : "{field: " + version + ", type: " + versioned.versionTime().word() + "}";
        return Optional.of(Words.count(ties, "record")
                + " with the version of another record of the key and another content: one of them counts, the other is a"
                + " dead letter. If several changes may have one version, as in one transaction, name what orders them: 'version: ["
                + first + ", {field: " + (isOfMaxwell ? "xoffset" : "FIELD") + ", missing: highest}]'");
    }

    /// Texts in levels that look like other texts.
    private Optional<String> decomposed() {
        if (pipeline.input().spellings().normalized() || !(pipeline.fold() instanceof Rollups rollups)) {
            return Optional.empty();
        }
        for (Rollup rollup : rollups.all()) {
            Optional<String> found = engine.query(Query.all(rollup.name()), Doubts::decomposed);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> decomposed(Answer answer) {
        for (Answer.Line line : answer.lines()) {
            int last = line.group().size() - 1;
            String text = last < 0 ? "" : line.group().get(last);
            if (!Normalizer.isNormalized(text, Normalizer.Form.NFC)) {
                return Optional.of("Level " + Words.visible(answer.levels().get(last)) + " has '" + Words.visible(text)
                        + "' in Unicode's decomposed form, which is another group than the composed one: write"
                        + " 'normalize: nfc' under input to make them one");
            }
        }
        return Optional.empty();
    }
}
