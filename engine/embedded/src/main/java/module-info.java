/// The engine and the sources that it follows are exported; all mechanics are hidden.
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
}
