/// The receiver of batches that writes rows of a database.
module dev.onefold.jdbc {
    requires transitive dev.onefold.receivers;
    requires java.sql;
    requires static org.jspecify;

    exports dev.onefold.jdbc;
}
