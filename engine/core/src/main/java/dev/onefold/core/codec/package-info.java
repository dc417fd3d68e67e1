/// Contexts, events and rows of a user's function: Java records as bytes, by the names of their components.
@NullMarked
package dev.onefold.core.codec;

import org.jspecify.annotations.NullMarked;
