/// The command `onefold`, a program: nothing is exported. The module is open because picocli sets the fields
/// of the commands by reflection.
@SuppressWarnings("requires-automatic")
open module dev.onefold.cli {
    requires com.github.luben.zstd_jni;
    requires dev.onefold.api;
    requires dev.onefold.aws;
    requires dev.onefold.core;
    requires dev.onefold.embedded;
    requires dev.onefold.kafka;
    requires dev.onefold.load;
    requires dev.onefold.jdbc;
    requires dev.onefold.receivers;
    requires dev.onefold.s3;
    requires dev.onefold.server;
    requires dev.onefold.sftp;
    requires dev.onefold.sqs;
    requires dev.onefold.tables;
    requires dev.onefold.test;
    requires dev.onefold.yaml;
    requires info.picocli;
    requires java.management;
    requires me.tongfei.progressbar;
    requires static org.jspecify;
    requires software.amazon.awssdk.core;
    requires software.amazon.awssdk.regions;
    requires software.amazon.awssdk.services.cloudformation;
    requires software.amazon.awssdk.services.cloudwatch;
    requires software.amazon.awssdk.services.dynamodb;
    requires software.amazon.awssdk.services.kinesis;
    requires software.amazon.awssdk.services.lambda;
    requires software.amazon.awssdk.services.s3;
    requires software.amazon.awssdk.services.sqs;

    uses dev.onefold.cli.trial.StandIns;

    provides System.LoggerFinder with
            dev.onefold.cli.QuietLoggers;
}
