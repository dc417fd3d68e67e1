/// The types that a receiver of batches in Java needs. The module has no dependency.
module dev.onefold.batch {
    requires static org.jspecify;

    exports dev.onefold.batch;
}
