/// A deployment on this machine: what the template says, made of servers, sandboxes and mappings.
@NullMarked
package dev.onefold.local.stack;

import org.jspecify.annotations.NullMarked;
