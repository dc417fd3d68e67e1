/// A disk in memory that fails.
module dev.onefold.fakes.disk {
    requires static org.jspecify;

    exports dev.onefold.fakes.disk;
}
