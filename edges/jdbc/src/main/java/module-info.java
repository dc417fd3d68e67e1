/// The receiver of batches that writes rows of a database.
@SuppressWarnings("module") // The modules that are named here are compiled later.
module dev.onefold.jdbc {
    requires transitive dev.onefold.receivers;
    requires java.sql;
    requires static org.jspecify;

    exports dev.onefold.jdbc to
            dev.onefold.aws,
            dev.onefold.cli;
}
