package dev.onefold.aws.template;

import dev.onefold.core.bytes.Sha256;
import java.nio.charset.StandardCharsets;

/// The functions, and what invokes them.
///
/// A snapshot is of a published version, and a version is only published where one of its properties changes. So its
/// description says everything that can change what the function is: the archive, the parameters, and a digest of the
/// function's own text.
final class Functions {
    static final String STATE_HANDLER = "dev.onefold.aws.function.StateFunction";
    static final String REDUCE_HANDLER = "dev.onefold.aws.function.ReduceFunction";
    static final String UPKEEP_HANDLER = "dev.onefold.aws.function.UpkeepFunction";

    private static final int DIGEST_CHARACTERS = 12;

    private Functions() {}

    static String yaml(Input input, String pipelineCode) {
        return function("State", STATE_HANDLER, pipelineCode)
                + function("Reduce", REDUCE_HANDLER, pipelineCode)
                + function("Upkeep", UPKEEP_HANDLER, pipelineCode)
                + inputMapping(input == Input.NEW_STREAM ? "!GetAtt InputStream.Arn" : "!Ref InputStreamArn")
                + RETRIES_MAPPING
                + WAKES_MAPPING
                + schedule("Tick", "Reduce", "Wakes Reduce for what no stream delivered.", TICK, "'{}'")
                + schedule("UpkeepTick", "Upkeep", "Lets Upkeep go on.", TICK, "'{}'")
                + schedule(
                        "Audit",
                        "Upkeep",
                        "Begins an audit each day.",
                        "rate(1 day)",
                        "!Sub '{\"audit\": ${AuditOneIn}}'")
                + once("Reduce")
                + once("Upkeep");
    }

    private static String function(String name, String handler, String pipelineCode) {
        String function = withLogs(name, handler, pipelineCode);
        return function + version(name, digest(function));
    }

    private static String withLogs(String name, String handler, String pipelineCode) {
        return """
              %1$sLogs:
                Type: AWS::Logs::LogGroup
                DeletionPolicy: Delete
                UpdateReplacePolicy: Delete
                Properties: {RetentionInDays: !Ref LogRetentionDays}
              %1$s:
                Type: AWS::Lambda::Function
                Properties:
                  Runtime: java25
                  Architectures: [arm64]
                  Handler: %2$s
                  Code: {S3Bucket: !Ref CodeBucket, S3Key: !Ref CodeKey}
                  Role: !GetAtt %1$sRole.Arn
                  MemorySize: !Ref %1$sMemory
                  Timeout: !Ref %1$sTimeout
                  SnapStart: {ApplyOn: PublishedVersions}
                  LoggingConfig: {LogFormat: JSON, LogGroup: !Ref %1$sLogs}
                  Environment:
                    Variables:
                      ONEFOLD_STACK: !Ref AWS::StackName
                      ONEFOLD_ROWS: !Ref Rows
                      ONEFOLD_DELTAS: !Ref Deltas
                      ONEFOLD_TOTALS: !Ref Totals
                      ONEFOLD_LETTERS: !Ref Letters
                      ONEFOLD_BUCKET: !Ref LettersBucket
                      ONEFOLD_LANES: !Ref Lanes
                      ONEFOLD_GATES: !Ref Gates
                      ONEFOLD_PIPELINE: '%3$s'
            """.formatted(name, handler, pipelineCode);
    }

    private static String version(String name, String digest) {
        return """
              %1$sVersion:
                Type: AWS::Lambda::Version
                Properties:
                  FunctionName: !Ref %1$s
                  Description: !Sub '${CodeKey}, ${%1$sMemory} MB, ${%1$sTimeout} s, ${Lanes} lanes, ${Gates} gates, %2$s'
              %1$sAlias:
                Type: AWS::Lambda::Alias
                Properties:
                  Name: live
                  FunctionName: !Ref %1$s
                  FunctionVersion: !GetAtt %1$sVersion.Version
            """.formatted(name, digest);
    }

    /// Without end to retries and age: what is healthy goes on behind a bad record all the same, because State puts
    /// that aside.
    private static String inputMapping(String arn) {
        return """
              InputMapping:
                Type: AWS::Lambda::EventSourceMapping
                Properties:
                  EventSourceArn: %s
                  FunctionName: !Ref StateAlias
                  StartingPosition: TRIM_HORIZON
                  BatchSize: !Ref BatchSize
                  MaximumBatchingWindowInSeconds: !Ref MaximumBatchingWindow
                  ParallelizationFactor: !Ref ParallelizationFactor
                  BisectBatchOnFunctionError: true
                  FunctionResponseTypes: [ReportBatchItemFailures]
                  MaximumRecordAgeInSeconds: -1
                  MaximumRetryAttempts: -1
                  DestinationConfig: {OnFailure: {Destination: !GetAtt Retries.Arn}}
            """.formatted(arn);
    }

    private static String digest(String text) {
        return Sha256.hex(text.getBytes(StandardCharsets.UTF_8)).substring(0, DIGEST_CHARACTERS);
    }

    /// A message may take half a minute of empty pages of its stream: a second one in its invocation would time out.
    private static final String RETRIES_MAPPING = """
              RetriesMapping:
                Type: AWS::Lambda::EventSourceMapping
                Properties:
                  EventSourceArn: !GetAtt Retries.Arn
                  FunctionName: !Ref StateAlias
                  BatchSize: 1
                  FunctionResponseTypes: [ReportBatchItemFailures]
                  ScalingConfig: {MaximumConcurrency: 2}
            """;

    /// Only new deltas wake, not their removal. What is not delivered is found at the next minute, so few retries do.
    private static final String WAKES_MAPPING = """
              WakesMapping:
                Type: AWS::Lambda::EventSourceMapping
                Properties:
                  EventSourceArn: !GetAtt Deltas.StreamArn
                  FunctionName: !Ref ReduceAlias
                  StartingPosition: TRIM_HORIZON
                  BatchSize: 1000
                  MaximumBatchingWindowInSeconds: 0
                  FilterCriteria: {Filters: [{Pattern: '{"eventName":["INSERT"]}'}]}
                  MaximumRecordAgeInSeconds: 60
                  MaximumRetryAttempts: 2
            """;

    private static final String TICK = "!FindInMap [Tick, !Ref TickMinutes, Rate]";

    private static String schedule(String name, String function, String description, String rate, String event) {
        return """
                  %1$s:
                    Type: AWS::Events::Rule
                    Properties:
                      Description: %3$s
                      ScheduleExpression: %4$s
                      State: ENABLED
                      Targets:
                        - Id: %2$s
                          Arn: !Ref %2$sAlias
                          Input: %5$s
                          RetryPolicy: {MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0}
                  %1$sPermission:
                    Type: AWS::Lambda::Permission
                    Properties:
                      Action: lambda:InvokeFunction
                      FunctionName: !Ref %2$sAlias
                      Principal: events.amazonaws.com
                      SourceArn: !GetAtt %1$s.Arn
                """.formatted(name, function, description, rate, event);
    }

    /// What fails is not tried again: the next tick is.
    private static String once(String function) {
        return """
                  %1$sOnce:
                    Type: AWS::Lambda::EventInvokeConfig
                    DependsOn: %1$sAlias
                    Properties:
                      FunctionName: !Ref %1$s
                      Qualifier: live
                      MaximumEventAgeInSeconds: 60
                      MaximumRetryAttempts: 0
                """.formatted(function);
    }
}
