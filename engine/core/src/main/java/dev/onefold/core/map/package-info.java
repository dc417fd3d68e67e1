/// The third room: which groups an event touches, and by how much.
@NullMarked
package dev.onefold.core.map;

import org.jspecify.annotations.NullMarked;
