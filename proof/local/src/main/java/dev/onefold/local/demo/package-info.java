/// The servers that stand in for AWS, as `onefold demo --on aws-local` and `onefold aws trial --local` use them.
@NullMarked
package dev.onefold.local.demo;

import org.jspecify.annotations.NullMarked;
