/// The CloudFormation template of a pipeline: everything that it needs on AWS, in one text that the standard command
/// deploys.
@NullMarked
package dev.onefold.aws.template;

import org.jspecify.annotations.NullMarked;
