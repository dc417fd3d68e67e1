/// Contexts, events and rows of a user's function as values, by the names of their components.
@NullMarked
package dev.onefold.core.shape;

import org.jspecify.annotations.NullMarked;
