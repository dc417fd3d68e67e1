package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// CSV by RFC 4180, one record a line.
class CsvScannerTest {
    private static final Decoding ABC = Decoding.csv(r -> r.levels("a", "c").count("n"), "a", "b", "c");
    private static final Decoding MISSING = Decoding.csv(
            r -> r.levels("a missing \"none\"", "c missing \"none\"").count("n"), "a", "b", "c");

    private static final Decoding OLD =
            of(PipelineBuilder.named("p").csv("a", "b", "c").edition(2));

    private static Decoding of(PipelineBuilder input) {
        return Decoding.of(input.rollup(r -> r.levels("a", "c").count("n")));
    }

    private static Decoding withHeader() {
        return Decoding.of(PipelineBuilder.named("p")
                .csv()
                .rollup(r -> r.levels("a", "\"b c\"").count("n")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "x,y,z|x|z",
                "x,y,z⏎|x|z",
                "\"x\",\"y\",\"z\"|x|z",
                "\"x\",y,\"z\"⏎|x|z",
                "\"a,b\",,\"c,d\"|a,b|c,d",
                "\"a\"\"b\",\"\"\"\",\"\"\"c\"\"\"|a\"b|\"c\"",
                "\"\"\"\",,\"\"\"\"\"\"|\"|\"\"",
                "x,\",\"\",\",z|x|z",
                "` x,y,z `|` x`|`z `",
                "\" x\",,\"z \"|` x`|`z `",
                "ä,ö,😀|ä|😀",
                "5.50,,true|5.50|true",
                "null,,NULL|null|NULL",
                "x⏎y,,z|x⏎y|z",
                "\\,,\\n|\\|\\n",
            })
    void a_value_stands_between_delimiters_or_in_quotes_that_are_doubled_inside(
            String record, String first, String third) {
        assertThat(ABC.group(record.replace('⏎', '\r'))).containsExactly(first.replace('⏎', '\r'), third);
    }

    @Test
    void an_empty_value_is_missing_without_quotes_and_empty_with_them() {
        assertThat(MISSING.group(",,")).containsExactly("none", "none");
        assertThat(MISSING.group(",,\r")).containsExactly("none", "none");
        assertThat(MISSING.group("\"\",,\"\"")).containsExactly("", "");
        assertThat(MISSING.group("\"\",,\"\"\r")).containsExactly("", "");
        assertThat(ABC.refusal(",y,z").message()).isEqualTo("Field a is missing; it is a level without a default");
        assertThat(ABC.refusal("x,y,").message()).isEqualTo("Field c is missing; it is a level without a default");
    }

    @Test
    void a_line_may_begin_where_its_bytes_begin() {
        Decoder decoder = new Decoder(PipelineBuilder.named("p")
                .csv("a", "b", "c")
                .rollup(r -> r.levels("c").count("n"))
                .build());
        byte[] line = (",,z" + "\0".repeat(Decoder.PADDING)).getBytes(StandardCharsets.UTF_8);
        assertThat(decoder.decode(line, 0, 3)).isNull();
    }

    @Test
    void a_number_ends_with_its_value() {
        Decoding decoding = Decoding.csv(r -> r.sum("s", "n", 18, 2), "x", "n");
        for (String number : List.of("1", "-1", "1.5", "1e1", "15e-1", "007", "0", "-0", "1000000000000.25")) {
            assertThat(decoding.number("x," + number)).as(number).isEqualByComparingTo(number);
        }
        for (String number : List.of("-", "1.", "1e", "1e-", ".5", "+1", "1 ")) {
            assertThat(decoding.decode("x," + number)).as(number).isNotNull();
        }
    }

    @Test
    void a_nul_is_a_character_like_any_other() {
        assertThat(ABC.group("\0,\0,z\0")).containsExactly("\0", "z\0");
        assertThat(ABC.group("\"\0\",,\"\"\"\0\"")).containsExactly("\0", "\"\0");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"x,y,z",
                "x,y,\"z",
                "x,y,\"",
                "x,y,\"z\"\"",
                "x\"y,,z",
                "x\",y,z",
                "x,y,z\"",
                "\"x\"y,,z",
                "\"x\" ,y,z",
                " \"x\",y,z",
                "\"x\"\"\"\",y,z",
            })
    void a_quote_that_is_not_closed_or_in_the_wrong_place_is_malformed(String record) {
        Malformed refusal = OLD.refusal(record);
        assertThat(refusal.reason()).isEqualTo(Reason.MALFORMED);
        assertThat(refusal.message())
                .startsWith("A quote in the CSV line is not closed, or not at the end of its value, at byte ");
        assertThat(refusal.message()).endsWith(" of the record");
    }

    @Test
    void a_quote_in_the_wrong_place_is_told_by_the_place_of_its_value() {
        assertThat(ABC.refusal("x,y,\"z").message()).endsWith("at byte 4 of the record");
        assertThat(OLD.refusal("x\"y,,z").message()).endsWith("at byte 0 of the record");
    }

    @Test
    void from_edition_3_on_a_quote_inside_a_value_without_quotes_is_a_character() {
        assertThat(ABC.group("37.8\"N,,z\"")).containsExactly("37.8\"N", "z\"");
        assertThat(ABC.group("x\"\",y,a b\"c\"")).containsExactly("x\"\"", "a b\"c\"");
        assertThat(ABC.refusal("x,y,\"z\" ").message()).startsWith("A quote in the CSV line is not closed, or not");
        assertThat(ABC.refusal("x,  \"y\",z").message())
                .isEqualTo(
                        "A space is in front of a quote in the CSV line, whose value begins at byte 2 of the record");
    }

    @Test
    void a_record_is_the_header_if_its_values_are_the_names_however_they_are_written() {
        String some = "a,\"\u00e4\r\ufeff";
        Seeds.forAllSeeds(20_000, random -> {
            List<String> columns = new ArrayList<>();
            StringBuilder record = new StringBuilder(random.nextInt(8) == 0 ? "\ufeff" : "");
            for (int column = random.nextInt(1, 4); column > 0; column--) {
                StringBuilder name = new StringBuilder();
                for (int length = random.nextInt(3); length > 0; length--) {
                    name.append(some.charAt(random.nextInt(some.length())));
                }
                columns.add(name.toString());
                String quoted = "\"" + name.toString().replace("\"", "\"\"") + "\"";
                record.append(random.nextBoolean() ? name : quoted).append(column > 1 ? "," : "");
            }
            if (random.nextInt(3) == 0) {
                int at = random.nextInt(record.length() + 1);
                record.insert(at, some.charAt(random.nextInt(some.length())));
            }
            byte[] bytes = record.toString().getBytes(StandardCharsets.UTF_8);
            CsvHeader header = new CsvHeader(new Format.Csv(',', columns), columns);
            assertThat(header.isAt(bytes, 0, bytes.length))
                    .as("%s is %s", record, columns)
                    .isEqualTo(columns.equals(header.values(bytes, 0, bytes.length)));
        });
    }

    @Test
    void from_edition_3_on_a_record_that_is_equal_to_the_header_is_silent() {
        Decoding headed = withHeader();
        assertThat(headed.header("a,b c")).isNull();
        for (String again : List.of("a,b c", "a,b c\r", "\"a\",b c", "\uFEFFa,\"b c\"")) {
            assertThat(headed.event(again).silence).as(again).isNotNull();
        }
        for (String record : List.of("a,b d", "a, b c", "\"a\"\"\",b c")) {
            assertThat(headed.event(record).silence).as(record).isNull();
        }
        assertThat(ABC.event("a,b,c").silence).isNotNull();
        assertThat(OLD.event("a,b,c").silence).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"1.234,50|1234.5", "-0,50|-0.5", "99,00|99", "7|7", "1.234|1234", "1.234.567|1234567", "1,5e2|150"
            })
    void a_number_with_a_decimal_comma_and_groups_of_three_digits(String text, String number) {
        assertThat(GERMAN.number("x;" + text)).isEqualByComparingTo(number);
        assertThat(GERMAN.number("x;\"" + text + "\"")).isEqualByComparingTo(number);
        assertThat(GERMAN.group(text + ";1")).containsExactly(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.500",
                "001.234",
                "00.500",
                "-0.250",
                "1.5",
                "1234.567",
                "1.23,4",
                ".123",
                "1,",
                ",5",
                "1,2,3",
                "1,234.5",
                "1.234.56",
                "1..234",
                "."
            })
    void a_number_in_another_form_is_refused(String text) {
        assertThat(GERMAN.refusal("x;" + text).message()).contains("is '" + text + "', which is not a number");
        Decoding version = Decoding.of(PipelineBuilder.named("p")
                .csv("x", "n")
                .delimiter(';')
                .numbers(',', '.')
                .key("x")
                .version("n")
                .rollup(r -> r.count("c")));
        assertThat(version.refusal("x;" + text).message()).contains("is '" + text + "', which is not an integer");
        Decoding time = Decoding.of(PipelineBuilder.named("p")
                .csv("x", "n")
                .delimiter(';')
                .numbers(',', '.')
                .time("n", TimeType.EPOCH_SECONDS)
                .rollup(r -> r.count("c")));
        assertThat(time.refusal("x;" + text).message()).contains("is '" + text + "', which is not a time");
    }

    @Test
    void a_number_that_does_not_fit_is_told_as_the_file_has_it() {
        assertThat(GERMAN.refusal("x;1.234,567").message()).contains("is '1.234,567', which does not fit");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u00a0", "\u202f", "\u2019"})
    void groups_of_digits_may_stand_between_spaces_that_do_not_break_and_apostrophes(String separator) {
        Decoding french = Decoding.of(PipelineBuilder.named("p")
                .csv("x", "n")
                .delimiter(';')
                .numbers(',', separator.charAt(0))
                .rollup(r -> r.levels("x").sum("s", "n", 18, 2)));
        String million = "1" + separator + "234" + separator + "567,5";
        assertThat(french.number("x;" + million)).isEqualTo("1234567.50");
        assertThat(french.number("x;-1" + separator + "000")).isEqualTo("-1000.00");
        assertThat(french.refusal("x;12" + separator + "34").message()).contains("is not a number");
        assertThat(french.refusal("x;1 234,5").message()).contains("is not a number");
        Decoding space = Decoding.of(PipelineBuilder.named("p")
                .csv("x", "n")
                .delimiter(';')
                .numbers(',', ' ')
                .rollup(r -> r.levels("x").sum("s", "n", 18, 2)));
        assertThat(space.refusal("x;" + million).message())
                .endsWith("Write thousands: \"\\u%04x\" under input".formatted((int) separator.charAt(0)));
    }

    private static final Decoding GERMAN = Decoding.of(PipelineBuilder.named("p")
            .csv("x", "n")
            .delimiter(';')
            .numbers(',', '.')
            .rollup(r -> r.levels("x").sum("s", "n", 18, 2)));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1.234,50|decimal: \",\" and thousands: \".\" under input",
                "0,5|decimal: \",\" under input",
                "1,234.5|thousands: \",\" under input",
                "1.234.567|decimal: \",\" and thousands: \".\" under input",
                "1,234|decimal: \",\" or thousands: \",\" under input",
                "1\u00a0234|thousands: \"\\u00a0\" under input",
                "-12\u202f234\u202f567,5|decimal: \",\" and thousands: \"\\u202f\" under input",
                "1\u2019234.50|thousands: \"\\u2019\" under input"
            })
    void a_number_in_a_known_other_form_is_refused_with_the_settings_to_write(String text, String advice) {
        Decoding plain = Decoding.csv(r -> r.sum("s", "n", 18, 2), "x", "n");
        assertThat(plain.refusal("x,\"" + text + "\"").message())
                .isEqualTo("Field n is '" + text + "', which is not a number. Write " + advice);
        for (String settings : advice.replace(" under input", "").split(" or ", -1)) {
            String written = settings.replaceAll("(\\w+):", "\"$1\":").replace(" and ", ",");
            assertThat(PipelineText.read("{\"pipeline\":\"p\",\"input\":{\"format\":\"csv\"," + written
                            + "},\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}"))
                    .isInstanceOf(Reading.Read.class);
        }
    }

    @Test
    void another_quote_and_none() {
        Decoding single = of(PipelineBuilder.named("p").csv("a", "b", "c").quote((char) 39));
        assertThat(single.group("'a,''b'" + "'',,\"c\"")).containsExactly("a,'b'", "\"c\"");
        Decoding none = of(PipelineBuilder.named("p").csv("a", "b", "c").noQuote());
        assertThat(none.group("\"a,,c\"")).containsExactly("\"a", "c\"");
        assertThat(none.group(" \",,\0")).containsExactly(" \"", "\0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"x|1|1", "x,y|2|3", "'x,y,'''''|3|0", "x,y,z,|4|6", "x,y,z,\"a\",b|5|11", "','|2|1", "',,,'|4|3"})
    void the_wrong_number_of_values_is_malformed(String record, int values, int position) {
        if (values == 3) {
            assertThat(MISSING.decode(record)).isNull();
        } else {
            assertThat(MISSING.refusal(record).message())
                    .isEqualTo("The CSV line has " + values + " values, its header 3 columns, at byte " + position
                            + " of the record");
        }
    }

    @Test
    void an_empty_line_and_invalid_utf_8_are_malformed() {
        assertThat(ABC.refusal("").message()).isEqualTo("The record is empty at byte 0 of the record");
        assertThat(ABC.refusal("\r").message()).isEqualTo("The record is empty at byte 0 of the record");
        assertThat(ABC.decode(new byte[] {'x', ',', (byte) 0xff, ',', 'z'}))
                .isEqualTo(
                        new Malformed(
                                Reason.MALFORMED,
                                "The line is not valid UTF-8 at byte 2 of the record. Convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW"));
        assertThat(ABC.decode(new byte[] {'x', ',', 'y', ',', (byte) 0xc3})).isNotNull();
    }

    @Test
    void the_delimiter_may_be_another_character() {
        for (char delimiter : List.of(';', '\t', '|', ' ')) {
            Decoding decoding = Decoding.of(PipelineBuilder.named("p")
                    .csv("a", "b", "c")
                    .delimiter(delimiter)
                    .rollup(r -> r.levels("a", "c").count("n")));
            assertThat(decoding.group("x,1" + delimiter + delimiter + "\"z" + delimiter + "\""))
                    .containsExactly("x,1", "z" + delimiter);
        }
    }

    @Test
    void numbers_and_versions_come_as_text_with_doubled_quotes_too() {
        Decoding decoding = Decoding.of(PipelineBuilder.named("p")
                .csv("k", "v", "n")
                .key("k")
                .version("v")
                .rollup(r -> r.sum("s", "n", 18, 2)));
        assertThat(decoding.number("k,7,\"12.5\"")).isEqualTo(new BigDecimal("12.50"));
        assertThat(decoding.version("k,007,1")).isEqualTo(7);
        assertThat(decoding.key("\"a\"\"b\",7,1")).isEqualTo("a\"b");
        assertThat(decoding.refusal("k,7,\"1\"\"2\"").message()).contains("which is not a number");
        assertThat(decoding.refusal("k,\"1\"\"2\",1").message())
                .isEqualTo("Field v is '1\"2', which is not an integer; it is the version");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a,b c",
                "b c,a",
                "\ufeffa,b c",
                "\ufeff\"a\",\"b c\"\r",
                "x,b c,y,a,z,z",
                "\"x\"\"\",\"a\",\",\",\"b c\"",
                "a,b c\r",
                ",a,b c,",
            })
    void the_header_says_where_the_columns_are_with_a_byte_order_mark_or_without(String header) {
        Decoding decoding = withHeader();
        assertThat(decoding.header(header)).isNull();
        String names = header.replace("\ufeff", "")
                .replace("\r", "")
                .replace("\"x\"\"\"", "x")
                .replace("\",\"", "-");
        StringBuilder record = new StringBuilder();
        for (String name : names.split(",", -1)) {
            record.append(record.isEmpty() ? "" : ",")
                    .append("<")
                    .append(name.replace("\"", ""))
                    .append(">");
        }
        if (header.equals("\"x\"\"\",\"a\",\",\",\"b c\"")) {
            record = new StringBuilder("1,<a>,2,<b c>");
        } else if (header.startsWith("\ufeff\"a\"")) {
            record = new StringBuilder("<a>,<b c>");
        }
        assertThat(decoding.group(record.toString())).containsExactly("<a>", "<b c>");
    }

    @Test
    void a_header_without_a_column_that_is_read_or_with_it_twice_or_that_is_no_csv_is_refused() {
        assertThat(withHeader().header("a,c"))
                .isEqualTo(new Malformed(
                        Reason.MALFORMED,
                        "The header, the first line of the source, has no column \"b c\" among its 2. Name its columns in"
                                + " the pipeline file, or fix its first line"));
        assertThat(withHeader().header("A,b c")).isNotNull();
        assertThat(withHeader().header("")).isNotNull();
        assertThat(withHeader().header("a,b c,a"))
                .isEqualTo(
                        new Malformed(
                                Reason.MALFORMED,
                                "The header names column a twice. Name its columns in the pipeline file, or fix its first line"));
        for (String header : List.of("a,\"b c", "a,\"b c\"x", "\"a\",\"b c\"\"", "\"")) {
            assertThat(withHeader().header(header))
                    .isEqualTo(
                            new Malformed(
                                    Reason.MALFORMED,
                                    "The header line is not CSV. Name its columns in the pipeline file, or fix its first line"));
        }
        Decoder decoder = new Decoder(
                PipelineBuilder.named("p").csv().rollup(r -> r.count("n")).build());
        byte[] line = {'a', (byte) 0xff, 0, 0, 0, 0, 0, 0, 0, 0};
        assertThat(decoder.header(line, 0, 2))
                .isEqualTo(
                        new Malformed(
                                Reason.MALFORMED,
                                "The header line is not valid UTF-8. Convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW"));
    }

    @Test
    void a_record_before_its_header_and_a_header_where_none_is_wanted_are_mistakes_of_the_caller() {
        assertThatThrownBy(() -> withHeader().decode("x,y")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> Decoding.level("a").header("a")).isInstanceOf(IllegalStateException.class);
        assertThat(Decoder.wantsHeader(PipelineBuilder.named("p")
                        .csv()
                        .rollup(r -> r.count("n"))
                        .build()))
                .isTrue();
        assertThat(Decoder.wantsHeader(PipelineBuilder.named("p")
                        .csv("a")
                        .rollup(r -> r.count("n"))
                        .build()))
                .isFalse();
        assertThat(Decoder.wantsHeader(
                        PipelineBuilder.named("p").rollup(r -> r.count("n")).build()))
                .isFalse();
    }

    @Test
    void another_source_may_have_its_columns_in_another_order() {
        Decoding decoding = withHeader();
        assertThat(decoding.header("a,b c")).isNull();
        assertThat(decoding.group("1,2")).containsExactly("1", "2");
        assertThat(decoding.header("b c,x,a")).isNull();
        assertThat(decoding.group("1,2,3")).containsExactly("3", "1");
    }

    @Test
    void what_a_writer_of_csv_writes_is_read_back_in_header_and_record() {
        Seeds.forAllSeeds(3_000, random -> {
            List<String> names = new ArrayList<>(List.of("a", "b c"));
            List<String> values = new ArrayList<>(List.of(text(random), text(random)));
            for (int i = random.nextInt(4); i > 0; i--) {
                int at = random.nextInt(names.size() + 1);
                names.add(at, "other " + text(random));
                values.add(at, text(random));
            }
            Decoding decoding = withHeader();
            assertThat(decoding.header(line(names, random))).isNull();
            assertThat(decoding.group(line(values, random)))
                    .containsExactly(values.get(names.indexOf("a")), values.get(names.indexOf("b c")));
        });
    }

    private static String text(RandomGenerator random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(5); i > 0; i--) {
            text.append(List.of("x", ",", "\"", "\"\"", " ", "é", "😀", "\0", ";", "\\")
                    .get(random.nextInt(10)));
        }
        return text.toString();
    }

    private static String line(List<String> values, RandomGenerator random) {
        List<String> written = new ArrayList<>();
        for (String value : values) {
            boolean plain = !value.isEmpty() && !value.contains(",") && !value.contains("\"") && random.nextBoolean();
            written.add(plain ? value : "\"" + value.replace("\"", "\"\"") + "\"");
        }
        return String.join(",", written) + (random.nextBoolean() ? "\r" : "");
    }

    @Test
    void random_bytes_are_a_record_or_malformed_and_the_same_again() {
        Seeds.forAllSeeds(20_000, random -> {
            byte[] record = new byte[random.nextInt(12)];
            for (int i = 0; i < record.length; i++) {
                record[i] = (byte) ",,\"\"xy\r\u0000".charAt(random.nextInt(8));
            }
            String text = new String(record, StandardCharsets.UTF_8);
            String value = "(\"([^\"]|\"\")*\"|(?!\")[^,]*)";
            String line = text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
            boolean expected = line.matches("(?s)" + value + "(," + value + "){2}");
            assertThat(MISSING.decode(record) == null).as(text).isEqualTo(expected);
        });
    }
}
