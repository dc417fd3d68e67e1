/// The types that a user's function per key needs. The module has no dependency.
module dev.onefold.process {
    requires static org.jspecify;

    exports dev.onefold.process;
}
