/// HTTP over an engine: served by the runtimes, asked by the command line.
@SuppressWarnings("module") // The modules that are named here are compiled later.
module dev.onefold.api {
    requires transitive dev.onefold.core;
    requires jdk.net;
    requires static org.jspecify;

    exports dev.onefold.api to
            dev.onefold.cli,
            dev.onefold.embedded,
            dev.onefold.server;
}
