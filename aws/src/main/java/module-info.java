/// The engine on AWS. The jar with the interface of a Lambda handler states no module name, so its name is
/// that of its file. The functions alone need it, and Lambda runs them on the class path; so it is `static`,
/// and no application depends on that name.
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module dev.onefold.aws {
    requires static aws.lambda.java.core;
    requires com.fasterxml.jackson.core;
    requires com.nimbusds.jose.jwt; // Of the issuer of tokens in module api.
    requires dev.onefold.api;
    requires transitive dev.onefold.core;
    requires dev.onefold.jdbc;
    requires dev.onefold.receivers;
    requires dev.onefold.s3;
    requires dev.onefold.tables;
    requires java.net.http;
    requires static org.jspecify;
    requires software.amazon.awssdk.auth;
    requires software.amazon.awssdk.awscore;
    requires software.amazon.awssdk.core;
    requires software.amazon.awssdk.http;
    requires software.amazon.awssdk.http.auth.aws;
    requires software.amazon.awssdk.http.auth.spi;
    requires software.amazon.awssdk.http.nio.netty;
    requires software.amazon.awssdk.identity.spi;
    requires software.amazon.awssdk.regions;
    requires transitive software.amazon.awssdk.services.dynamodb;
    requires transitive software.amazon.awssdk.services.kinesis;
    requires software.amazon.awssdk.services.lambda;
    requires transitive software.amazon.awssdk.services.s3;
    requires transitive software.amazon.awssdk.services.sqs;

    exports dev.onefold.aws to
            dev.onefold.cli;
    exports dev.onefold.aws.store to
            dev.onefold.cli;
    exports dev.onefold.aws.stream to
            dev.onefold.cli;
    exports dev.onefold.aws.batch to
            dev.onefold.cli;
    exports dev.onefold.aws.event to
            dev.onefold.cli;
    exports dev.onefold.aws.function to
            dev.onefold.cli;
    exports dev.onefold.aws.letter to
            dev.onefold.cli;
    exports dev.onefold.aws.publication to
            dev.onefold.cli;
    exports dev.onefold.aws.resync to
            dev.onefold.cli;
    exports dev.onefold.aws.state to
            dev.onefold.cli;
    exports dev.onefold.aws.template to
            dev.onefold.cli;
    exports dev.onefold.aws.upkeep to
            dev.onefold.cli;
}
