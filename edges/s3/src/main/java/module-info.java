/// The receiver of batches that writes objects of S3.
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module dev.onefold.s3 {
    requires transitive dev.onefold.receivers;
    requires static org.jspecify;
    requires software.amazon.awssdk.auth;
    requires software.amazon.awssdk.awscore;
    requires software.amazon.awssdk.core;
    requires software.amazon.awssdk.http.nio.netty;
    requires software.amazon.awssdk.regions;
    requires transitive software.amazon.awssdk.services.s3;

    exports dev.onefold.s3 to
            dev.onefold.aws,
            dev.onefold.cli;
}
