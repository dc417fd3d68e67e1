/// Limits of flow: answers to their readers, requests of a token, connections, and work on threads of its own.
@NullMarked
package dev.onefold.server.flow;

import org.jspecify.annotations.NullMarked;
