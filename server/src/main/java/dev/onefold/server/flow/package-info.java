/// What flows, and how fast it may: answers to their readers, requests of a token, work on threads of its own.
@NullMarked
package dev.onefold.server.flow;

import org.jspecify.annotations.NullMarked;
