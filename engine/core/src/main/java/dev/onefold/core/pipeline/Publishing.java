package dev.onefold.core.pipeline;

import java.time.Duration;
import java.util.Optional;

/// A copy of the totals that other programs read. It decides nothing about what is stored.
public sealed interface Publishing {
    /// The name of its table or topic.
    String table();

    /// Tables of a PostgreSQL database, which an embedded engine keeps.
    ///
    /// @param address of the database, beginning with `jdbc:postgresql:`
    /// @param table its name, also behind that of a schema and a dot
    /// @param every time between two updates of the copy
    /// @param password name of the environment variable that holds it
    record Database(String address, String table, Duration every, Optional<String> user, Optional<String> password)
            implements Publishing {
        public static final Duration EVERY_DEFAULT = Duration.ofSeconds(1);
        public static final int EVERY_DAYS_MAX = 1;
        /// The table of the database that names the cut of the other ones.
        public static final String OWN_TABLE = "onefold_published";

        public static final int TABLE_LENGTH_MAX = 40;
    }

    /// A topic of Kafka, which an embedded engine writes whole cuts to.
    ///
    /// @param table the name of the topic
    /// @param servers hosts and ports, separated by commas
    /// @param properties file with further properties of Kafka's client, relative to the pipeline file
    record Topic(String table, String servers, Duration every, Optional<String> properties) implements Publishing {}

    /// A table of DynamoDB, which a deployment on AWS keeps.
    record Items(String table, Optional<TopList> top) implements Publishing {}

    /// A list of the leaf groups with the greatest values of a measure.
    record TopList(int count, String measure) {
        public static final int COUNT_MAX = 100;
    }
}
