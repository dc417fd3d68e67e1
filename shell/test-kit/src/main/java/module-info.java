/// Tests of a user's function per key.
module dev.onefold.test {
    requires transitive dev.onefold.core;
    requires dev.onefold.embedded;
    requires dev.onefold.yaml;
    requires static org.jspecify;

    exports dev.onefold.test;
}
