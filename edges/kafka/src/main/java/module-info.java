/// A topic of Kafka as an input of the embedded engine, as a copy of its totals, and as a receiver of batches.
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module dev.onefold.kafka {
    requires dev.onefold.core;
    requires transitive dev.onefold.embedded;
    requires com.google.protobuf;
    requires java.net.http;
    requires transitive dev.onefold.receivers;
    requires kafka.clients;
    requires static org.jspecify;

    exports dev.onefold.kafka to
            dev.onefold.cli;
}
