/// HTTP over an engine: served by the runtimes, asked by the command line.
@SuppressWarnings("module") // The modules that are named here are compiled later.
module dev.onefold.api {
    requires static com.nimbusds.jose.jwt;
    requires transitive dev.onefold.core;
    requires java.net.http;
    requires jdk.net;
    requires static org.jspecify;

    exports dev.onefold.api to
            dev.onefold.aws,
            dev.onefold.cli,
            dev.onefold.embedded,
            dev.onefold.server;
    exports dev.onefold.api.body to
            dev.onefold.aws,
            dev.onefold.cli,
            dev.onefold.embedded,
            dev.onefold.server;
    exports dev.onefold.api.jwt to
            dev.onefold.aws,
            dev.onefold.server;
    exports dev.onefold.api.sync to
            dev.onefold.aws,
            dev.onefold.cli,
            dev.onefold.embedded;
    exports dev.onefold.api.page to
            dev.onefold.aws,
            dev.onefold.server;
}
