package dev.onefold.aws.template;

/// The names of what the stack made, for people and for the command line.
final class Outputs {
    private Outputs() {}

    static String yaml(Input input) {
        return "Outputs:\n"
                + (input == Input.NEW_STREAM
                        ? output("InputStreamName", "The stream that takes the pipeline records.", "!Ref InputStream")
                                + output("InputStreamArn", "Its ARN.", "!GetAtt InputStream.Arn")
                        : output("InputStreamArn", "The stream that is read.", "!Ref InputStreamArn"))
                + output("RowsTable", "The table of rows.", "!Ref Rows")
                + output("DeltasTable", "The table of deltas that are not yet in the totals.", "!Ref Deltas")
                + output("TotalsTable", "The table of totals.", "!Ref Totals")
                + output("LettersTable", "The table of dead letters.", "!Ref Letters")
                + output("LettersBucketName", "The bucket with the bytes of dead letters.", "!Ref LettersBucket")
                + output("RetriesUrl", "The retry queue.", "!Ref Retries")
                + output("RetriesAsideUrl", "The queue of positions that were put aside.", "!Ref RetriesAside")
                + output("StateFunction", "The function State.", "!Ref State")
                + output("ReduceFunction", "The function Reduce.", "!Ref Reduce")
                + output("UpkeepFunction", "The function Upkeep.", "!Ref Upkeep")
                + output("DashboardName", "The dashboard.", "!Ref Operations") + "    Condition: HasDashboard\n";
    }

    private static String output(String name, String description, String value) {
        return """
                  %s:
                    Description: %s
                    Value: %s
                """.formatted(name, description, value);
    }
}
