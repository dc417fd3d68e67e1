/// The CloudFormation template of a pipeline: everything that it needs on AWS, in one text that the standard command
/// deploys. Its text is in the resource `template.yaml`.
@NullMarked
package dev.onefold.aws.template;

import org.jspecify.annotations.NullMarked;
