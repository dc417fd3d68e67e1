/// Contents of messages.
@NullMarked
package dev.onefold.api.body;

import org.jspecify.annotations.NullMarked;
