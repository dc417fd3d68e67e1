package dev.onefold.aws.template;

import java.util.List;
import java.util.stream.Collectors;

/// What a user says or tunes when deploying. A function's timeouts are a list, because the queue's visibility follows
/// them and CloudFormation cannot multiply.
final class Parameters {
    /// Those whose capacity can be said; dead letters are few.
    private static final List<String> TABLES = List.of("Rows", "Deltas", "Totals");

    private Parameters() {}

    static String yaml(Input input) {
        return groups(input) + "Parameters:\n" + input(input) + COMMON
                + TABLES.stream().map(Parameters::units).collect(Collectors.joining()) + CONDITIONS
                + TABLES.stream().map(Parameters::hasUnits).collect(Collectors.joining())
                + (input == Input.NEW_STREAM ? SHARDS : KEY);
    }

    private static String groups(Input input) {
        String settings = input == Input.NEW_STREAM
                ? "StreamMode, StreamShards, StreamRetentionHours, "
                : "InputStreamArn, InputStreamKeyArn, ";
        return """
                Metadata:
                  AWS::CloudFormation::Interface:
                    ParameterGroups:
                      - Label: {default: Code}
                        Parameters: [CodeBucket, CodeKey]
                      - Label: {default: Input}
                        Parameters: [%sBatchSize, MaximumBatchingWindow, ParallelizationFactor, MaxReceiveCount]
                      - Label: {default: Functions}
                        Parameters:
                          [StateMemory, StateTimeout, ReduceMemory, ReduceTimeout, UpkeepMemory, UpkeepTimeout, LogRetentionDays]
                      - Label: {default: Capacity}
                        Parameters:
                          [BillingMode, RowsReadUnits, RowsWriteUnits, DeltasReadUnits, DeltasWriteUnits, TotalsReadUnits,
                           TotalsWriteUnits]
                      - Label: {default: Layout of a new deployment}
                        Parameters: [Lanes, Gates]
                      - Label: {default: Safety}
                        Parameters: [DeletionProtection, Alarms, AlarmTopicArn, AlarmLagMs, Dashboard, TickMinutes, AuditOneIn]
                """.formatted(settings);
    }

    private static String input(Input input) {
        return switch (input) {
            case NEW_STREAM -> """
                  StreamMode:
                    Type: String
                    Description: Whether the stream is on demand or has provisioned shards.
                    Default: ON_DEMAND
                    AllowedValues: [ON_DEMAND, PROVISIONED]
                  StreamShards:
                    Type: Number
                    Description: Provisioned shards of the stream, each for 1 MB or 1000 records a second.
                    Default: 1
                    MinValue: 1
                    MaxValue: 10000
                  StreamRetentionHours:
                    Type: Number
                    Description: How long the stream keeps records, in hours. An outage that lasts longer loses input.
                    Default: 168
                    MinValue: 24
                    MaxValue: 8760
                """;
            case STREAM -> given("kinesis", ":stream/[a-zA-Z0-9_.-]{1,128}", "the Kinesis stream that is read");
            case TABLE ->
                given(
                        "dynamodb",
                        ":table/[a-zA-Z0-9_.-]{3,255}/stream/[0-9T:.-]+",
                        "the stream of the DynamoDB table that is read; it must carry new images");
        };
    }

    /// What is provisioned, or warmed beforehand where tables are paid by request.
    private static String units(String table) {
        return """
                  %1$sReadUnits:
                    Type: Number
                    Description: Read units a second of the table %1$s, provisioned or warm; 1 leaves it to AWS.
                    Default: 1
                    MinValue: 1
                  %1$sWriteUnits:
                    Type: Number
                    Description: Write units a second of the table %1$s, provisioned or warm; 1 leaves it to AWS.
                    Default: 1
                    MinValue: 1
                """.formatted(table);
    }

    private static String hasUnits(String table) {
        return """
                  Has%1$sUnits: !Not [!Equals [!Ref %1$sWriteUnits, 1]]
                """.formatted(table);
    }

    private static String given(String service, String name, String what) {
        return """
                  InputStreamArn:
                    Type: String
                    Description: ARN of %s.
                    AllowedPattern: 'arn:aws[a-z-]*:%s:[a-z0-9-]+:[0-9]{12}%s'
                  InputStreamKeyArn:
                    Type: String
                    Description: ARN of the key of your own that encrypts it, if there is one.
                    Default: ''
                    AllowedPattern: '(arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+)?'
                """.formatted(what, service, name);
    }

    private static final String COMMON = """
              CodeBucket:
                Type: String
                Description: Bucket, in this region, that holds the archive of the functions.
                AllowedPattern: '[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]'
              CodeKey:
                Type: String
                Description: Key of the archive in that bucket. Give each archive a key of its own, or a new one is not noticed.
                MinLength: 1
                MaxLength: 100
              BatchSize:
                Type: Number
                Description: batchSize, the most records that one invocation of State gets.
                Default: 1000
                MinValue: 1
                MaxValue: 10000
              MaximumBatchingWindow:
                Type: Number
                Description: maximumBatchingWindow, how many seconds a batch may wait for more records.
                Default: 0
                MinValue: 0
                MaxValue: 300
              ParallelizationFactor:
                Type: Number
                Description: parallelizationFactor, how many batches of one shard are worked on at a time.
                Default: 1
                MinValue: 1
                MaxValue: 10
              MaxReceiveCount:
                Type: Number
                Description: maxReceiveCount, how often the retry queue delivers a message before it is put aside.
                Default: 5
                MinValue: 2
                MaxValue: 1000
              StateMemory:
                Type: Number
                Description: Memory of State in MB. One processor comes with 1769.
                Default: 1769
                MinValue: 512
                MaxValue: 10240
              StateTimeout:
                Type: Number
                Description: Timeout of State in seconds.
                Default: 60
                AllowedValues: [30, 60, 120, 300, 900]
              ReduceMemory:
                Type: Number
                Description: Memory of Reduce in MB. One processor comes with 1769.
                Default: 1769
                MinValue: 512
                MaxValue: 10240
              ReduceTimeout:
                Type: Number
                Description: Timeout of Reduce in seconds.
                Default: 60
                AllowedValues: [30, 60, 120, 300, 900]
              UpkeepMemory:
                Type: Number
                Description: Memory of Upkeep in MB. One processor comes with 1769.
                Default: 1769
                MinValue: 512
                MaxValue: 10240
              UpkeepTimeout:
                Type: Number
                Description: Timeout of Upkeep in seconds. It goes on where it stopped, each minute.
                Default: 60
                AllowedValues: [60, 120, 300, 900]
              Lanes:
                Type: Number
                Description: For a new deployment, into how many parts totals are split; later the tables keep the number.
                Default: %d
                MinValue: 1
                MaxValue: %d
              Gates:
                Type: Number
                Description: For a new deployment, how many items keep writers of an old definition out.
                Default: %d
                MinValue: %d
                MaxValue: %d
              LogRetentionDays:
                Type: Number
                Description: How many days logs are kept.
                Default: 30
                AllowedValues: [7, 14, 30, 60, 90, 180, 365, 731, 1827, 3653]
              DeletionProtection:
                Type: String
                Description: Whether the tables refuse to be deleted. Set false before a tear-down.
                Default: 'true'
                AllowedValues: ['true', 'false']
              Alarms:
                Type: String
                Description: Which alarms there are. The few are on lag, silence, dead letters and audits.
                Default: few
                AllowedValues: [all, few, none]
              Dashboard:
                Type: String
                Description: Whether there is a dashboard.
                Default: 'false'
                AllowedValues: ['true', 'false']
              TickMinutes:
                Type: Number
                Description: How often Reduce looks for deltas that nobody told it of, and Upkeep goes on with its work.
                Default: 5
                AllowedValues: [1, 5, 15, 60]
              BillingMode:
                Type: String
                Description: Whether the tables Rows, Deltas and Totals are paid by request or provisioned.
                Default: PAY_PER_REQUEST
                AllowedValues: [PAY_PER_REQUEST, PROVISIONED]
              AlarmTopicArn:
                Type: String
                Description: ARN of the SNS topic that alarms go to; empty, and they are only shown.
                Default: ''
                AllowedPattern: '(arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[a-zA-Z0-9_.-]{1,256})?'
              AlarmLagMs:
                Type: Number
                Description: Lag in milliseconds, of the input or of the deltas, from which on an alarm is raised.
                Default: 60000
                MinValue: 1000
              AuditOneIn:
                Type: Number
                Description: Each day one leaf group in so many is recomputed from the rows and compared; 0 is none.
                Default: 16
                MinValue: 0
                MaxValue: 1000000
            """.formatted(
            Layout.DEFAULT.lanes(), Layout.LANES_MAX, Layout.DEFAULT.gates(), Layout.GATES_MIN, Layout.GATES_MAX);

    private static final String CONDITIONS = """
            Mappings:
              Visibility:
                '30': {Seconds: 180}
                '60': {Seconds: 360}
                '120': {Seconds: 720}
                '300': {Seconds: 1800}
                '900': {Seconds: 5400}
              Tick:
                '1': {Rate: rate(1 minute), Seconds: 60}
                '5': {Rate: rate(5 minutes), Seconds: 300}
                '15': {Rate: rate(15 minutes), Seconds: 900}
                '60': {Rate: rate(60 minutes), Seconds: 3600}
            Conditions:
              HasAlarmTopic: !Not [!Equals [!Ref AlarmTopicArn, '']]
              HasAlarms: !Not [!Equals [!Ref Alarms, none]]
              HasAllAlarms: !Equals [!Ref Alarms, all]
              HasDashboard: !Equals [!Ref Dashboard, 'true']
              IsProvisioned: !Equals [!Ref BillingMode, PROVISIONED]
            """;

    private static final String SHARDS = """
              HasShards: !Equals [!Ref StreamMode, PROVISIONED]
            """;

    private static final String KEY = """
              HasInputKey: !Not [!Equals [!Ref InputStreamKeyArn, '']]
            """;
}
