/// Readers of the rows of a table, and seeding from them.
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module dev.onefold.tables {
    requires transitive com.fasterxml.jackson.core;
    requires transitive dev.onefold.core;
    requires java.sql;
    requires static org.jspecify;
    requires software.amazon.awssdk.awscore;
    requires software.amazon.awssdk.core;
    requires transitive software.amazon.awssdk.services.dynamodb;
    requires transitive software.amazon.awssdk.services.s3;

    exports dev.onefold.tables to
            dev.onefold.aws,
            dev.onefold.cli;
    exports dev.onefold.tables.compare to
            dev.onefold.aws,
            dev.onefold.cli;
}
