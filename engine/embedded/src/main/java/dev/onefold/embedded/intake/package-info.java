/// The ways into a view: requests, files and logs, with the waits between their rounds.
@NullMarked
package dev.onefold.embedded.intake;

import org.jspecify.annotations.NullMarked;
