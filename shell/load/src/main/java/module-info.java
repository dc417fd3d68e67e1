/// Generators of load, for the command line.
@SuppressWarnings("module") // The module that is named here is compiled later.
module dev.onefold.load {
    requires static org.jspecify;

    exports dev.onefold.load to
            dev.onefold.cli;
}
