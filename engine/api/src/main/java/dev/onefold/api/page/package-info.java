/// The files of the live page, among the resources: HTML, CSS and JavaScript. A server of the routes serves them,
/// too.
@NullMarked
package dev.onefold.api.page;

import org.jspecify.annotations.NullMarked;
