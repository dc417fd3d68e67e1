/// Receivers of batches, and the proof of a folder of batches. A program that collects batches uses
/// [dev.onefold.receivers.Receivers].
module dev.onefold.receivers {
    requires transitive dev.onefold.batch;
    requires transitive dev.onefold.core;
    requires java.net.http;
    requires static com.github.luben.zstd_jni; // Only to prove files whose names end in .zst.
    requires static org.jspecify;

    exports dev.onefold.receivers;
}
