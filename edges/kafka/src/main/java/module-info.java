/// A topic of Kafka as an input of the embedded engine.
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module dev.onefold.kafka {
    requires dev.onefold.core;
    requires transitive dev.onefold.embedded;
    requires com.google.protobuf;
    requires java.net.http;
    requires kafka.clients;
    requires static org.jspecify;

    exports dev.onefold.kafka to
            dev.onefold.cli;
}
