/// The last room: questions, and answers that are one cut.
@NullMarked
package dev.onefold.core.query;

import org.jspecify.annotations.NullMarked;
