/// The packages that an application uses are exported to everybody: the engine, the pipeline model with its
/// grammar and builder, queries and answers, and the plain values of the rooms `event` and `state`. The rules
/// and the fast forms are exported to our own modules alone. `package-info` of `dev.onefold.core` has the order of the
/// packages.
@SuppressWarnings("module") // The modules that are named here are compiled later.
module dev.onefold.core {
    requires static org.jspecify;
    requires transitive dev.onefold.process;

    exports dev.onefold.core;
    exports dev.onefold.core.batch;
    exports dev.onefold.core.builder;
    exports dev.onefold.core.document;
    exports dev.onefold.core.event;
    exports dev.onefold.core.grammar;
    exports dev.onefold.core.pipeline;
    exports dev.onefold.core.process;
    exports dev.onefold.core.query;
    exports dev.onefold.core.shape;
    exports dev.onefold.core.state;
    exports dev.onefold.core.aggregate to
            dev.onefold.aws,
            dev.onefold.embedded;
    exports dev.onefold.core.bytes to
            dev.onefold.api,
            dev.onefold.aws,
            dev.onefold.cli,
            dev.onefold.embedded,
            dev.onefold.kafka,
            dev.onefold.receivers,
            dev.onefold.s3,
            dev.onefold.server,
            dev.onefold.sftp,
            dev.onefold.tables,
            dev.onefold.test,
            dev.onefold.yaml;
    exports dev.onefold.core.codec to
            dev.onefold.cli,
            dev.onefold.embedded,
            dev.onefold.test;
    exports dev.onefold.core.form to
            dev.onefold.api,
            dev.onefold.cli,
            dev.onefold.kafka,
            dev.onefold.tables;
    exports dev.onefold.core.json to
            dev.onefold.api,
            dev.onefold.aws,
            dev.onefold.cli,
            dev.onefold.embedded,
            dev.onefold.jdbc,
            dev.onefold.kafka,
            dev.onefold.receivers,
            dev.onefold.tables,
            dev.onefold.test,
            dev.onefold.yaml;
    exports dev.onefold.core.keyed to
            dev.onefold.aws,
            dev.onefold.embedded,
            dev.onefold.test;
    exports dev.onefold.core.letter to
            dev.onefold.aws,
            dev.onefold.embedded;
    exports dev.onefold.core.map to
            dev.onefold.aws,
            dev.onefold.embedded;
    exports dev.onefold.core.reduce to
            dev.onefold.aws;
    exports dev.onefold.core.seal to
            dev.onefold.aws,
            dev.onefold.embedded,
            dev.onefold.tables;
    exports dev.onefold.core.totals to
            dev.onefold.api,
            dev.onefold.aws,
            dev.onefold.embedded,
            dev.onefold.jdbc,
            dev.onefold.kafka;
}
