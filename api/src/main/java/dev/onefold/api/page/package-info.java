/// The files of the live page, among the resources: HTML, CSS and JavaScript. Whatever serves the routes serves them.
@NullMarked
package dev.onefold.api.page;

import org.jspecify.annotations.NullMarked;
