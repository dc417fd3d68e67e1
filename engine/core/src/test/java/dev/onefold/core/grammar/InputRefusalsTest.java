package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// The files and inputs that the reader refuses: line, column and message.
class InputRefusalsTest {
    private static final String NAME_ADVICE =
            "write letters a-z, digits and hyphens, at most 64, no hyphen first or last";

    @Test
    void all_that_is_wrong_is_found_at_once_in_the_order_of_the_file() {
        assertThat(Read.problems("""
                        {"pipeline": "Trades",
                         "input": {"key": "TradeID", "versoin": "Version"},
                         "rollup": {"levels": ["Hierarchy/Region"],
                                    "measures": {"value": "sum(Value)", "trades": "cuont()"}}}"""))
                .containsExactly(
                        "1:15: pipeline: 'Trades' is not a name; " + NAME_ADVICE,
                        "2:12: input.key: has no version beside it: nothing would say which of two records is newer;"
                                + " write version: FIELD; or write id in place of key if each record counts",
                        "2:30: input.versoin: 'versoin' is not a setting of input; did you mean 'version'?",
                        "3:25: rollup.levels[0]: 'Hierarchy/Region' is not a field name; there is no arithmetic here:"
                                + " name one field, which 'let' under input may derive, as in 'net: gross - tax'; a field"
                                + " that has just this name:"
                                + " '\"Hierarchy/Region\"'",
                        "4:46: rollup.measures.value: 'sum(Value)' ends too early; write decimal(precision,scale):"
                                + " digits in all, 1 to 38, and digits after the point, 0 to precision",
                        "4:60: rollup.measures.trades: 'cuont' is no function here; did you mean 'count'?");
    }

    @Test
    void a_file_is_a_map_of_settings() {
        assertThat(Read.problems("[]")).containsExactly("1:1: is a list; write settings, as in 'pipeline: …'");
        assertThat(Read.problems(" \"x\"")).containsExactly("1:2: 'x' is a text; write settings, as in 'pipeline: …'");
        assertThat(Read.problems("null")).containsExactly("1:1: has no value; write settings, as in 'pipeline: …'");
    }

    @Test
    void pipeline_input_and_a_rollup_must_be_there() {
        assertThat(Read.problems("{}"))
                .containsExactly(
                        "1:1: pipeline: is not set; write the pipeline's name: letters a-z, digits and hyphens",
                        "1:1: input: is not set; write what an event is under input: its format, key and version",
                        "1:1: rollup: is not set; write what is to be totalled under rollup: its levels and its measures");
    }

    @Test
    void an_offset_is_no_id_without_its_partition() {
        String file =
                "{\"pipeline\":\"p\",\"input\":{\"from\":{\"kafka\":{\"topic\":\"t\",\"servers\":\"h:1\"}},\n\"id\":%s},"
                        + "\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}";
        assertThat(Read.problems(file.formatted("\"@offset\"")))
                .containsExactly(
                        "2:1: input.id: is an offset, which each partition has; write [\"@partition\", \"@offset\"]");
        assertThat(Read.problems(file.formatted("[\"@partition\", \"@offset\"]")))
                .isEmpty();
    }

    @Test
    void encoded_records_come_from_a_topic_and_have_their_schemas_somewhere() {
        String file =
                "{\"pipeline\":\"p\",\"input\":{%s\n%s},\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}";
        String from = "\"from\":{\"kafka\":{\"topic\":\"t\",\"servers\":\"h:1\"}},";
        assertThat(Read.problems(file.formatted("", "\"format\":\"avro\",\"registry\":\"http://h\"")))
                .containsExactly("2:17: input.registry: is for records of a topic, and the input has none;"
                        + " write 'from: {kafka: {topic: …, servers: …}}', or send JSON");
        assertThat(Read.problems(file.formatted(from, "\"format\":\"avro\"")))
                .containsExactly("2:1: input.format: needs schemas; write 'registry: http://…', or 'schemas: FOLDER'");
        assertThat(Read.problems(file.formatted(from, "\"format\":\"protobuf\",\"descriptors\":\"a.desc\"")))
                .containsExactly("2:1: input.format: needs schemas; write 'registry: http://…', or 'descriptors: FILE'"
                        + " with 'message: NAME' for a file of protoc --include_imports --descriptor_set_out");
        assertThat(Read.problems(file.formatted(from, "\"registry\":\"http://h\"")))
                .containsExactly("2:1: input.registry: is for avro and protobuf and json-schema and debezium only;"
                        + " write 'format: avro', or leave it out");
        assertThat(Read.problems(file.formatted(from, "\"format\":\"avro\",\"registry\":\"http://u:p@h\"")))
                .containsExactly("2:29: input.registry: 'http://u:p@h' is not the address of a registry; write"
                        + " http://HOST:PORT or https://HOST, and its password in the file of properties");
        assertThat(Read.problems(file.formatted(from, "\"format\":\"json-schema\",\"key-format\":\"avor\"")))
                .containsExactly(
                        "2:24: input.key-format: needs the registry of the keys' schemas; write 'registry: http://…'",
                        "2:38: input.key-format: 'avor' is not a format of keys; did you mean 'avro'?");
    }

    @Test
    void sections_are_maps() {
        assertThat(Read.problems("{\"pipeline\": \"p\",\n\"input\": [],\n\"rollup\": \"x\"}"))
                .containsExactly(
                        "2:10: input: is a list; write settings, as in 'format: …'",
                        "3:11: rollup: 'x' is a text; write settings, as in 'levels: …'");
        assertThat(Read.problems("{\"pipeline\": null,\n\"input\": null,\n\"rollups\": []}"))
                .containsExactly(
                        "1:14: pipeline: has no value; write one text",
                        "2:10: input: has no value; write settings, as in 'format: …'",
                        "3:12: rollups: is a list; write roll-ups, each with a name: 'by-town: …'");
    }

    @Test
    void a_pipelines_name_has_letters_digits_and_hyphens_and_at_most_64_of_them() {
        assertThat(Read.problems(named("My_P")))
                .containsExactly("1:14: pipeline: 'My_P' is not a name; " + NAME_ADVICE);
        assertThat(Read.problems(named("-p"))).containsExactly("1:14: pipeline: '-p' is not a name; " + NAME_ADVICE);
        assertThat(Read.problems(named("p-"))).containsExactly("1:14: pipeline: 'p-' is not a name; " + NAME_ADVICE);
        assertThat(Read.problems(named("ä"))).containsExactly("1:14: pipeline: 'ä' is not a name; " + NAME_ADVICE);
        assertThat(Read.problems(named(""))).containsExactly("1:14: pipeline: is empty; " + NAME_ADVICE);
        assertThat(Read.problems(named("p".repeat(65))))
                .containsExactly("1:14: pipeline: '" + "p".repeat(60) + "…' is not a name; " + NAME_ADVICE);
    }

    @Test
    void an_unknown_setting_is_named_with_the_nearest_or_with_where_it_belongs_or_with_all_there_are() {
        assertInput(
                "\"fromat\": \"json\"",
                "3:1: input.fromat: 'fromat' is not a setting of input; did you mean 'format'?");
        assertInput("\"levels\": []", "3:1: input.levels: 'levels' is not a setting of input; it belongs to a roll-up");
        assertInput(
                "\"foo\": 1",
                "3:1: input.foo: 'foo' is not a setting of input; write format, from, registry, schemas, descriptors, message, key-format, columns, delimiter, quote, decimal,"
                        + " thousands, nulls, comment, escape, header, unwrap, records, stream, expired, table, logs, decimals, let, key, version, id, horizon, time, delete,"
                        + " filter, truths, falsehoods, normalize, zone, fold or edition");
        assertThat(Read.problems(Read.withRollup("\"level\": [], \"levels\": [], \"measures\": {\"n\": \"count()\"}")))
                .containsExactly("3:1: rollup.level: 'level' is not a setting of a roll-up; did you mean 'levels'?");
    }

    @Test
    void a_setting_is_there_once() {
        assertInput(
                "\"filter\": \"a is missing\",\n\"filter\": \"b is missing\"",
                "4:1: input.filter: 'filter' is set twice, first in line 3; keep one of them");
    }

    @Test
    void a_key_without_a_version_is_refused() {
        assertInput(
                "\"key\": \"K\"",
                "3:1: input.key: has no version beside it: nothing would say which of two records is newer;"
                        + " write version: FIELD; or write id in place of key if each record counts");
    }

    @Test
    void a_version_without_a_key_is_refused() {
        assertInput(
                "\"version\": \"V\"",
                "3:1: input.version: has no key beside it: nothing would say what it is a version of; write key: FIELD");
    }

    @Test
    void an_id_excludes_key_version_and_delete() {
        String wrong = " stands beside id, but a pipeline with an id replaces and deletes nothing; leave out ";
        assertInput(
                "\"key\": \"K\", \"version\": \"V\",\n\"id\": \"i\",\n\"delete\": \"a = 'x'\"",
                "3:1: input.key:" + wrong + "key or id",
                "3:13: input.version:" + wrong + "version or id",
                "5:1: input.delete:" + wrong + "delete or id");
        assertInput("\"id\": \"i\",\n\"key\": \"K\"", "4:1: input.key:" + wrong + "key or id");
    }

    @Test
    void delete_without_versions_is_refused() {
        assertInput(
                "\"delete\": \"op = 'delete'\"",
                "3:1: input.delete: needs key and version: without them nothing is ever replaced or deleted;"
                        + " write key and version to let the highest version of a key count");
    }

    @Test
    void a_horizon_needs_id_and_time() {
        assertInput(
                "\"id\": \"i\", \"horizon\": \"7d\"",
                "3:12: input.horizon: needs to know the time of a record; write time: FIELD, or leave horizon out");
        assertInput(
                "\"time\": \"t\", \"horizon\": \"7d\"",
                "3:14: input.horizon: is for pipelines with an id only; write id, or leave horizon out");
        assertInput(
                "\"key\": \"k\", \"version\": \"v\", \"horizon\": \"7d\"",
                "3:29: input.horizon: is for pipelines with an id only; write id, or leave horizon out");
    }

    @Test
    void a_horizon_is_a_number_and_a_unit() {
        String advice = "; write a number and s, m, h or d, like 15m, from 1s to 36500d";
        for (String wrong : new String[] {"7", "7 d", "7d12h", "1.5h", "P7D", "-7d", "d"}) {
            String shown = wrong.equals("7 d") ? "7" : wrong;
            assertInput(
                    "\"id\": \"i\", \"time\": \"t\", \"horizon\":\n\"" + wrong + "\"",
                    "4:2: input.horizon: '" + shown + "' is not a time span" + advice);
        }
        for (String wrong : new String[] {"0d", "36501d", "9999999999s"}) {
            assertInput(
                    "\"id\": \"i\", \"time\": \"t\", \"horizon\":\n\"" + wrong + "\"",
                    "4:2: input.horizon: '" + wrong + "' is not possible" + advice);
        }
        for (String wrong : new String[] {"1s", "86399s", "23h"}) {
            assertInput(
                    "\"id\": \"i\", \"time\": \"t\", \"horizon\":\n\"" + wrong + "\"",
                    "4:2: input.horizon: '" + wrong + "' is shorter than a day, and the clocks of senders may be a day"
                            + " behind; write a horizon from 1d to 36500d");
        }
        assertInput(
                "\"id\": \"i\", \"time\": \"t\", \"horizon\":\n\"7d x\"",
                "4:5: input.horizon: 'x' is unexpected; write one number and one unit, like 36h");
    }

    @Test
    void a_key_has_1_to_16_different_fields() {
        assertInput("\"key\": [], \"version\": \"V\"", "3:8: input.key: is empty; write 1 to 16 fields");
        assertInput(
                "\"key\": [" + PipelineReaderTest.list(17, "\"f%d\"") + "], \"version\": \"V\"",
                "3:8: input.key: has 17 fields; write 1 to 16 fields");
        assertInput(
                "\"key\": [\"a\",\n\"a\"], \"version\": \"V\"", "4:1: input.key[1]: 'a' is there twice; name it once");
        assertInput(
                "\"id\": {\"type\": \"integer\"}",
                "3:7: input.id.field: is not set; write a field, a list of fields, or {field: F, type: integer}");
        assertInput(
                "\"id\": {\"field\": \"x\", \"type\": \"number\"}",
                "3:31: input.id.type: 'number' is not a type of a key; write text or integer");
        assertInput("\"id\": [\"a\", [\"b\"]]", "3:13: input.id[1]: is a list; write one text");
    }

    @Test
    void a_field_is_one_path_with_quotes_where_they_are_needed() {
        assertInput("\"id\": \"\"", "3:8: input.id: is empty; write the name of a field");
        assertInput("\"id\": \"a.\"", "3:10: input.id: 'a.' ends too early; write the name of a field");
        assertInput(
                "\"id\": \"a..b\"",
                "3:10: input.id: '.b' is unexpected, expected the name of a field;"
                        + " write a path like Order.Total or \"unit.price\"");
        assertInput(
                "\"id\": \"a b\"",
                "3:10: input.id: 'b' is unexpected; write one field alone; a name with a space is in double quotes,"
                        + " inside those of YAML: '\"a b\"'");
        assertInput("\"id\": \"x.a$b\"", "3:10: input.id: 'a$b' must be in quotes to be a name; write '\"a$b\"'");
        assertInput(
                "\"id\": \"lots[0].qty\"",
                "3:8: input.id: 'lots[0]' is an element of an array, and arrays are not addressed;"
                        + " split the record beforehand, into one for each element");
        assertInput("\"id\": \"'a'\"", "3:8: input.id: ''a'' is not a name; names are in double quotes, or in none");
        assertInput("\"id\": \"b.\\\"a\"", "3:10: input.id: '\"a' has no closing quote; end it with \"");
    }

    @Test
    void a_version_type_is_none_of_the_others_and_not_auto() {
        assertInput(
                "\"key\": \"K\", \"version\":\n{\"type\": \"iso\"}",
                "4:1: input.version.field: is not set; write the field that holds the version");
        assertInput(
                "\"key\": \"K\", \"version\": {\"field\": \"V\", \"type\":\n\"auto\"}",
                "4:2: input.version.type: 'auto' leaves open how versions compare;"
                        + " write integer, iso, epoch-days, epoch-seconds, epoch-millis, epoch-micros, epoch-nanos, hlc, uuid7, ulid, dmy or mdy");
        assertInput(
                "\"key\": \"K\", \"version\": {\"field\": \"V\", \"type\":\n\"epoch-milis\"}",
                "4:2: input.version.type: 'epoch-milis' is not a type of version; did you mean 'epoch-millis'?");
        assertInput(
                "\"key\": \"K\", \"version\": {\"field\": \"V\", \"type\":\n\"long\"}",
                "4:2: input.version.type: 'long' is not a type of version;"
                        + " write integer, iso, epoch-days, epoch-seconds, epoch-millis, epoch-micros, epoch-nanos, hlc, uuid7, ulid, dmy or mdy");
        assertInput(
                "\"key\": \"K\", \"version\":\n[\"V\"]",
                "4:1: input.version: has 1 field; write 2 to 4 fields, or one without brackets");
    }

    @Test
    void a_time_type_is_none_of_the_others_and_not_integer() {
        assertInput(
                "\"time\":\n{\"field\": \"V\", \"type\": \"integer\"}",
                "4:25: input.time.type: 'integer' is not a type of time; write auto, iso, epoch-days, epoch-seconds, epoch-millis, epoch-micros, epoch-nanos, hlc, uuid7, ulid, dmy or mdy");
        assertInput(
                "\"time\":\n{\"field\": \"V\", \"type\": \"iso x\"}",
                "4:29: input.time.type: 'x' is unexpected; write the type alone");
        assertInput("\"time\":\n{}", "4:1: input.time.field: is not set; write the field that holds the time");
        assertInput(
                "\"time\":\n{\"feild\": \"a\", \"field\": \"a\"}",
                "4:2: input.time.feild: 'feild' is not a setting of time; did you mean 'field'?");
    }

    @Test
    void tables_of_several_origins_need_the_origin_in_the_key() {
        String debezium = "\"format\": \"debezium\", \"key\": [\"id\"],\n\"table\": ";
        assertInput(
                debezium + "[\"a.t\", \"b.t\"]",
                "3:23: input.key: does not say of which schema a row is, and rows of several may have equal keys; write"
                        + " 'key: [{origin: schema}, …]' (database where tables have no schema, as in MySQL)");
        assertInput(
                debezium + "\"*.a.t\"",
                "3:23: input.key: does not say of which database a row is, and rows of several may have equal keys;"
                        + " write 'key: [{origin: database}, …]'");
        assertInput(
                debezium + "[\"a.t\", \"a.u\"]",
                "3:23: input.key: does not say of which table a row is, and rows of several may have equal keys; write"
                        + " 'key: [{origin: table}, …]'");
        assertInput(debezium + "[]", "4:10: input.table: is empty; write the names of the tables");
        assertInput(
                debezium + "\"a.*_*\"",
                "4:11: input.table: 'a.*_*' has '*' twice between two dots; write it once, as in public.orders_*");
        assertInput(
                "\"key\": [{\"origin\": \"schema\"}, \"id\"], \"version\": \"v\"",
                "3:10: input.key[0].origin: is for debezium only; write a field");
        assertInput(
                "\"format\": \"debezium\", \"table\": \"t\", \"key\": [{\"origin\": \"scheme\"}, \"id\"]",
                "3:57: input.key[0].origin: 'scheme' is not an origin; did you mean 'schema'?");
    }

    @Test
    void a_stream_of_dynamodb_is_of_one_table_that_is_not_named_by_the_stream() {
        String stream = "\"format\": \"dynamodb-stream\", \"key\": \"id\",\n\"table\": ";
        String right = "; write the name or the ARN of one table, such as Orders or"
                + " arn:aws:dynamodb:eu-west-1:123456789012:table/Orders";
        assertInput(
                stream + "\"arn:aws:dynamodb:eu-west-1:123456789012:table/T/stream/2026-11-01T09:30:00.000\"",
                "4:11: input.table: 'arn:aws:dynamodb:eu-west-1:123456789012:table/T/stream/2026-…' is the ARN"
                        + " of a stream" + right);
        assertInput(stream + "\"a b\"", "4:11: input.table: 'a b' is not the name of a table" + right);
        assertInput(stream + "[\"Orders\"]", "4:10: input.table: is a list; write one text");
        assertInput(
                "\"table\": \"Orders\", \"key\": \"id\", \"version\": \"v\"",
                "3:1: input.table: is for dynamodb-stream and debezium only; write 'format: dynamodb-stream', or leave"
                        + " it out");
    }

    @Test
    void changes_of_a_table_have_a_key_and_no_id_and_their_fields_have_no_envelope() {
        assertInput(
                "\"format\": \"debezium\", \"table\": \"t\"",
                "2:10: input.key: is not set; write the fields that are the table's key, in the order of your choice");
        assertInput(
                "\"table\": \"t\", \"format\": \"debezium\", \"id\": \"message\"",
                "3:37: input.id: is not possible here: each record is a version of a row; write key with the table's"
                        + " key, or 'format: json'");
        assertInput(
                "\"table\": \"t\", \"format\": \"debezium\", \"key\": \"value.after.id\"",
                "3:45: input.key: 'value.after.id' leads into the record of the change, and fields are named as in the"
                        + " table here; write id");
        assertInput(
                "\"format\": \"dynamodb-stream\", \"key\": \"NewImage.id\"",
                "3:38: input.key: 'NewImage.id' leads into the record of the change, and fields are named as in the"
                        + " table here; write id");
        assertInput(
                "\"format\": \"dynamodb-stream\", \"key\": \"id\", \"logs\": [\"a\"]",
                "3:43: input.logs: is for debezium only; write 'format: debezium', or leave it out");
        assertInput(
                "\"format\": \"dynamodb-stream\", \"key\": \"id\", \"expired\": \"drop\"",
                "3:55: input.expired: 'drop' is not what is done with a row that expires; write retract or keep");
        assertInput(
                "\"format\": \"dynamodb-stream\", \"key\": \"id\", \"stream\": \"arn:x\"",
                "3:54: input.stream: 'arn:x' does not end in the time at which a table's stream was switched on; write"
                        + " the stream's ARN, such as arn:aws:dynamodb:eu-west-1:123456789012:table/T/stream/"
                        + "2026-11-01T09:30:00.000");
    }

    @Test
    void a_format_is_one_of_those_there_are() {
        assertInput("\"format\": \"jsn\"", "3:12: input.format: 'jsn' is not a format; did you mean 'json'?");
        assertInput(
                "\"format\": \"xml\"",
                "3:12: input.format: 'xml' is not a format; write json, csv, avro, protobuf, json-schema, dynamodb-stream or debezium");
    }

    @Test
    void columns_and_delimiter_are_for_csv() {
        assertInput(
                "\"delimiter\": \";\",\n\"columns\": [\"a\"]",
                "3:1: input.delimiter: is for csv only; write 'format: csv', or leave it out",
                "4:1: input.columns: is for csv only; write 'format: csv', or leave it out");
    }

    @Test
    void nulls_are_a_list_of_values_and_a_comment_begins_with_one_character() {
        assertInput(
                "\"format\": \"csv\",\n\"nulls\": \"NULL\"",
                "4:10: input.nulls: 'NULL' is a text; write a list of the values that are missing, such as [NULL, \"-\"]");
        assertInput(
                "\"format\": \"csv\",\n\"comment\": \"//\"",
                "4:13: input.comment: '//' does not begin a line that is a comment; write one ASCII character in quotes,"
                        + " such as \"#\"");
        assertInput(
                "\"format\": \"csv\",\n\"comment\": \",\"",
                "4:1: input.comment: is the delimiter or the quote, too; write another character");
        assertInput("\"comment\": \"#\"", "3:1: input.comment: is for csv only; write 'format: csv', or leave it out");
    }

    @Test
    void an_event_is_taken_out_of_a_json_record_with_at_most_four_fields_on_the_way() {
        assertInput(
                "\"format\": \"csv\",\n\"unwrap\": \"a\"",
                "4:1: input.unwrap: is for json only; write 'format: json', or leave it out");
        assertInput(
                "\"format\": \"csv\",\n\"records\": \"array\"",
                "4:1: input.records: is for json only; write 'format: json', or leave it out");
        assertInput(
                "\"records\": \"object\"",
                "3:13: input.records: 'object' is not how a file holds its records; did you mean 'objects'?");
        assertInput(
                "\"unwrap\": [\"a\", \"b\", \"c\", \"d\", \"e\"]",
                "3:1: input.unwrap: has 5 fields; write at most 4, the outermost first");
    }

    @Test
    void a_delimiter_is_one_ascii_character_but_no_quote_or_line_break() {
        String advice = "; write one ASCII character in quotes, but not a double quote or line break:"
                + " \",\", \";\", \"|\", \"\\t\"";
        for (String wrong : new String[] {";;", "\\\"", "§", "\\n", "\\u007f"}) {
            String shown = wrong.equals("\\\"") ? "\"" : wrong;
            assertInput(
                    "\"format\": \"csv\", \"delimiter\":\n\"" + wrong + "\"",
                    "4:2: input.delimiter: '" + shown + "' is not a delimiter" + advice);
        }
        assertInput("\"format\": \"csv\", \"delimiter\":\n\"\"", "4:2: input.delimiter: is empty" + advice);
    }

    @Test
    void a_quote_is_one_character_or_none_and_separators_of_numbers_are_two_different_ones() {
        assertInput(
                "\"format\": \"csv\", \"quote\":\n\"xx\"",
                "4:2: input.quote: 'xx' is not a quote; write one ASCII character, such as \"'\", or none if quotes are"
                        + " ordinary characters");
        assertInput(
                "\"format\": \"csv\", \"delimiter\": \";\",\n\"quote\": \";\"",
                "4:1: input.quote: is the delimiter, too; write another character, or 'quote: none'");
        assertInput(
                "\"format\": \"csv\", \"decimal\":\n\";\"",
                "4:2: input.decimal: ';' is not a separator in numbers; write \",\" for numbers such as 1234,50");
        assertInput(
                "\"format\": \"csv\", \"thousands\":\n\"x\"",
                "4:2: input.thousands: 'x' is not a separator in numbers; write what is between groups of three digits:"
                        + " \".\", \",\", \"'\", \"_\", \" \", or another space or apostrophe by its number: \"\\u00a0\","
                        + " \"\\u202f\" or \"\\u2019\"");
        assertInput(
                "\"format\": \"csv\", \"decimal\": \",\",\n\"thousands\": \",\"",
                "4:1: input.thousands: is the decimal separator, too; write another one, or leave it out");
    }

    @Test
    void columns_are_a_list_of_different_names() {
        String right = "write a list of names, or leave it out when the first line of each file names the columns";
        assertInput("\"format\": \"csv\", \"columns\":\n[]", "4:1: input.columns: is empty; " + right);
        assertInput("\"format\": \"csv\", \"columns\":\n\"a\"", "4:1: input.columns: 'a' is a text; " + right);
        assertInput(
                "\"format\": \"csv\", \"columns\":\n[\"a\", \"b\", \"a\"]",
                "4:12: input.columns[2]: 'a' is there twice; give each column a name of its own");
    }

    @Test
    void a_csv_field_is_a_column_and_one_of_those_that_are_listed() {
        assertInput(
                "\"format\": \"csv\", \"columns\": [\"id\", \"customer\"],\n\"id\": \"custmer\"",
                "4:8: input.id: 'custmer' is none of input.columns; did you mean 'customer'?");
        assertInput(
                "\"format\": \"csv\",\n\"filter\": \"x is missing or a.b = 'c'\"",
                "4:28: input.filter: 'a.b' is a path, and a csv record has columns only;"
                        + " a column whose name has dots is in double quotes, inside those of YAML: '\"a.b\"'");
    }

    @Test
    void half_a_character_is_refused_where_it_stands() {
        assertInput(
                "\"id\": \"a\\ud800b\"",
                "3:9: input.id: '\\ud800' is half a character; write both surrogates, or none");
    }

    @Test
    void no_file_has_more_than_a_thousand_problems() {
        assertThat(Read.problems("{" + PipelineReaderTest.list(5_000, "\"x%d\": 1") + "}"))
                .hasSize(1_000)
                .last()
                .asString()
                .endsWith("has more problems than 1000; correct these first, then check again");
    }

    private static String named(String name) {
        return "{\"pipeline\":\"" + name + "\", \"input\": {},"
                + " \"rollup\": {\"levels\": [], \"measures\": {\"n\": \"count()\"}}}";
    }

    private static void assertInput(String settings, String... problems) {
        assertThat(Read.problems(Read.withInput(settings))).containsExactly(problems);
    }
}
