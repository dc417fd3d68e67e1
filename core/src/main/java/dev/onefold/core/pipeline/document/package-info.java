/// A document of settings as values with places: nodes, problems, JSON text, expressions inside a text. It knows
/// nothing of pipelines; the pipeline package reads its model from it.
@NullMarked
package dev.onefold.core.pipeline.document;

import org.jspecify.annotations.NullMarked;
