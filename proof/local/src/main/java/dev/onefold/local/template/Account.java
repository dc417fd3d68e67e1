package dev.onefold.local.template;

/// Whose resources they are, and how their names are made up.
///
/// @param id twelve digits
public record Account(String id, String region) {
    /// What the servers call theirs.
    public static final Account LOCAL = new Account("000000000000", "eu-central-1");

    /// The name of a resource for all of AWS.
    public String arn(String service, String resource) {
        return "arn:aws:" + service + ":" + region + ":" + id + ":" + resource;
    }

    /// The name that a resource of another region has where it is one of this account and region. What is no such
    /// name stays as it is.
    public String own(String arn) {
        String[] parts = arn.split(":", 6);
        return parts.length < 6 ? arn : arn(parts[2], parts[5]);
    }

    /// The same for what has no region, such as a role.
    public String globalArn(String service, String resource) {
        return "arn:aws:" + service + "::" + id + ":" + resource;
    }
}
