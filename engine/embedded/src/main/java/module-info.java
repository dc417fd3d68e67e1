/// The engine and the sources that it follows are exported; all mechanics are hidden. The
/// command line alone reads files and lines as the engine does.
@SuppressWarnings("module") // The module that is named here is compiled later.
module dev.onefold.embedded {
    requires dev.onefold.api;
    requires transitive dev.onefold.core;
    requires java.management;
    requires jdk.management;
    requires static com.github.luben.zstd_jni; // Only for files whose names end in .zst.
    requires static org.jspecify;

    exports dev.onefold.embedded;
    exports dev.onefold.embedded.delivery;
    exports dev.onefold.embedded.source;
    exports dev.onefold.embedded.file to
            dev.onefold.cli;
    exports dev.onefold.embedded.framing to
            dev.onefold.cli,
            dev.onefold.kafka;
}
