package dev.onefold.kafka.format;

import dev.onefold.core.pipeline.Origin.Encoded;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Where schemas are found by the ids in the headers of records. Not thread-safe.
interface Schemas {
    /// What is known of an id.
    sealed interface Answer {
        record Known(Schema schema) implements Answer {}

        /// There is no such schema, or it cannot be read.
        record Unknown(String why) implements Answer {}

        /// It is not known yet.
        record Open(String why) implements Answer {}
    }

    Answer find(String id);

    /// Files `ID.avsc`. A file that is missing is looked for again.
    record Folder(Path folder, Map<String, Schema> known) implements Schemas {
        private static final int KNOWN_MAX = 1_000;

        Folder(Path folder) {
            this(folder, new HashMap<>());
        }

        @Override
        public Answer find(String id) {
            Schema schema = known.get(id);
            if (schema != null) {
                return new Answer.Known(schema);
            }
            Path file = folder.resolve(id + ".avsc");
            try {
                Schema read = Schema.of(Encoded.AVRO, List.of(Files.readString(file)));
                if (known.size() < KNOWN_MAX) {
                    known.put(id, read);
                }
                return new Answer.Known(read);
            } catch (IOException e) {
                return Files.exists(file)
                        ? new Answer.Open("the file " + file + " cannot be read: " + e.getMessage())
                        : new Answer.Unknown("there is no file " + file);
            } catch (Undecodable e) {
                return new Answer.Unknown("in " + file + " " + e.getMessage());
            }
        }
    }
}
