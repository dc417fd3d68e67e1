/// Pipeline files in YAML.
module dev.onefold.yaml {
    requires transitive dev.onefold.core;
    requires static org.jspecify;
    requires org.snakeyaml.engine.v2;

    exports dev.onefold.yaml;
}
