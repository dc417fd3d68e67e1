/// A disk held in memory behind the JDK's own file system seam, on which production code runs unchanged. It loses,
/// tears and reorders whatever was not forced, as a power cut may, and fails on demand as Linux does.
@NullMarked
package dev.onefold.fakes.disk;

import org.jspecify.annotations.NullMarked;
