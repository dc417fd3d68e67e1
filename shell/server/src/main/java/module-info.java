/// Engines as a service: HTTP by TCP, with TLS and tokens.
@SuppressWarnings({"module", "requires-automatic"})
module dev.onefold.server {
    requires transitive dev.onefold.api;
    requires transitive dev.onefold.core;
    requires com.github.luben.zstd_jni;
    requires com.nimbusds.jose.jwt; // Of the issuer of tokens in module api.
    requires io.prometheus.metrics.core;
    requires io.prometheus.metrics.expositionformats;
    requires io.prometheus.metrics.model;
    requires io.prometheus.writer.text;
    requires java.net.http;
    requires org.eclipse.jetty.alpn.server;
    requires org.eclipse.jetty.http2.server;
    requires org.eclipse.jetty.server;
    requires static org.jspecify;

    exports dev.onefold.server to
            dev.onefold.cli;
}
