/// Engines as a service: HTTP by TCP, with TLS and tokens.
module dev.onefold.server {
    requires transitive dev.onefold.api;
    requires transitive dev.onefold.core;
    requires com.github.luben.zstd_jni;
    requires org.eclipse.jetty.alpn.server;
    requires org.eclipse.jetty.http2.server;
    requires org.eclipse.jetty.server;
    requires static org.jspecify;

    exports dev.onefold.server;
}
