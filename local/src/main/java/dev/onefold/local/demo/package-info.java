/// The demo's own process, which `onefold demo --on aws-local` starts.
@NullMarked
package dev.onefold.local.demo;

import org.jspecify.annotations.NullMarked;
