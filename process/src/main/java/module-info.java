/// What a user's function per key needs. It has no dependency.
module dev.onefold.process {
    requires static org.jspecify;

    exports dev.onefold.process;
}
