/// SQS queues as inputs of the embedded engine.
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module dev.onefold.sqs {
    requires dev.onefold.core;
    requires transitive dev.onefold.embedded;
    requires static org.jspecify;
    requires software.amazon.awssdk.auth;
    requires software.amazon.awssdk.awscore;
    requires software.amazon.awssdk.core;
    requires software.amazon.awssdk.http.nio.netty;
    requires software.amazon.awssdk.regions;
    requires transitive software.amazon.awssdk.services.sqs;

    exports dev.onefold.sqs to
            dev.onefold.cli;
}
