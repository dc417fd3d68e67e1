package dev.onefold.fakes.aws;

import static dev.onefold.fakes.aws.Service.number;
import static dev.onefold.fakes.aws.Service.text;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Expressions at the edge of what is allowed, and what their placeholders stand for.
final class EdgeExpressions {
    private static final Pattern PLACEHOLDER = Pattern.compile("[#:][A-Za-z0-9_]+");

    /// What placeholders stand for, wherever an expression has them.
    static final Map<String, AttributeValue> VALUES = new TreeMap<>(Map.of(
            ":one", number(1),
            ":two", number(2),
            ":t", text("text"),
            ":te", text("te"),
            ":b", AttributeValue.fromB(SdkBytes.fromUtf8String("te")),
            ":true", AttributeValue.fromBool(true),
            ":ss", AttributeValue.fromSs(List.of("x", "y")),
            ":ns", AttributeValue.fromNs(List.of("1", "3")),
            ":l", AttributeValue.fromL(List.of(number(1), text("x"))),
            ":m", AttributeValue.fromM(Map.of("in", number(1)))));

    static final Map<String, String> NAMES = Map.of("#n", "n", "#s", "status", "#dot", "a.b", "#pk", "pk");

    static final List<String> CONDITIONS = list("""
            n = :one; n <> :one; n < :two; n = :t; n <> :t; n < :t; missing = :one; missing <> :one;
            missing < :one; :one = n; :one = :one; :one < :two; :one <= n; n = n; n < n; s = :t;
            attribute_exists(n); attribute_exists(missing); attribute_not_exists(missing);
            attribute_exists(:one); ATTRIBUTE_EXISTS(n); attribute_type(n, :t); attribute_exists(m.in);
            attribute_exists(m.other); attribute_exists(l[0]); attribute_exists(l[9]); m.in = :one;
            l[0] = :one; l[1] = :one; begins_with(s, :te); begins_with(s, :one); begins_with(n, :te);
            begins_with(s, :b); begins_with(s, s); begins_with(:t, :te); contains(s, :te); contains(ss, :te);
            contains(l, :one); contains(ns, :one); contains(n, :one); contains(s, s); contains(:t, :te);
            size(s) = :one; size(n) = :one; size(ss) = :two; size(m) = :one; size(l) >= :two;
            size(missing) > :one; size(s) > size(ss); size(s); size(:t) > :one; n BETWEEN :one AND :two;
            n BETWEEN :two AND :one; n BETWEEN :one AND :t; n between :one and :two; s BETWEEN :te AND :t;
            n IN (:one, :two); n IN (:t); n IN (); n in (n); missing IN (:one); not n = :one; NOT NOT n = :one;
            NOT n = :one AND s = :t; n = :one OR s = :te AND n = :two; (n = :one); ((n = :one));
            ((n = :one) AND (s = :t)); (n = :one) OR ((s = :t)); n = :one AND; n == :one; n; n =; = :one;
            (n = :one; n = :one); #n = :one; #s = :t; status = :t; name = :t; #dot = :t; a.b = :t; #n.x = :one;
            #missing = :one; n = :missing; _n = :one; 1n = :one; n > :true; n > :ss; ss = :ss; l = :l; m = :m;
            ns = :ns; b = :true; b < :true; attribute_type(n, :one); attribute_exists(n) = :true;
            if_not_exists(n, :one) = :one; n = :one and n = :one; n + :one = :two; l[-1] = :one; l[x] = :one;
            pk = :t; n<>:one; n!=:one; n = :one , s = :t; contains(m.in, :one); size(m.in) = :one; :ss = ss;
            contains(ss, :ss); begins_with(missing, :te); n BETWEEN n AND :two; foo(n); size (s) > :one;
            attribute_exists (n); l[0].x = :one; m.in.x = :one; m[0] = :one; n IN (:one,:one)
            """);

    static final List<String> UPDATES = list("""
            SET n = :one; SET n = n + :one; SET n = n - :two; SET n = :two - n; SET n = n + :t;
            SET n = s + :one; SET n = missing + :one; SET x = n; SET x = missing;
            SET x = if_not_exists(missing, :one); SET x = if_not_exists(n, :t);
            SET x = if_not_exists(missing, n) + :one; SET x = if_not_exists(missing, missing2);
            SET l = list_append(l, :l); SET l = list_append(:l, l); SET l = list_append(l, :one);
            SET l = list_append(missing, :l); SET l[0] = :two; SET l[50] = :two, l[40] = :t; SET m.in = :t;
            SET m.fresh = :t; SET m.fresh.deep = :t; SET missing.x = :t; SET n.x = :t; SET m[0] = :t;
            SET pk = :t; SET n = :one, n = :two; SET m = :m, m.in = :one; SET n = :one SET x = :one;
            SET n = :one REMOVE s; REMOVE n; REMOVE missing; REMOVE m.in; REMOVE m.none; REMOVE missing.x;
            REMOVE l[0]; REMOVE l[0], l[1]; REMOVE l[9]; REMOVE pk; REMOVE m.in.x; REMOVE l[0].x; ADD n :one;
            ADD missing :one; ADD s :one; ADD n :t; ADD ss :ss; ADD ss :ns; ADD fresh :ss; ADD m.in :one;
            ADD m.fresh :one; ADD n n; ADD l :l; ADD n :one, missing :two; ADD n :one ADD x :one;
            DELETE ss :ss; DELETE ss :ns; DELETE missing :ss; DELETE n :one; DELETE ss ss; SET n = :one,; SET;
            SET n; n = :one; UPDATE n = :one; SET n = :one + :two; SET n = n + :one + :two;
            set n = :one remove s; SET #n = :one; SET status = :one; SET #s = :one; SET #dot = :one;
            SET a.b = :one; SET n = (:one); SET n = size(s); SET n = if_not_exists(n); SET n = list_append(l);
            SET l[1] = :one REMOVE l[0]; SET l[0] = l[1], l[1] = l[0]; SET n = :missing; REMOVE n, n;
            ADD l[0] :one; SET x = m.in; SET x = l; SET n = n; SET x = :ss; REMOVE s SET n = s; SET n = -:one;
            ADD n :one REMOVE n; SET n = IF_NOT_EXISTS(n, :one);
            SET x = if_not_exists(n, :one) - if_not_exists(q, :two)
            """);

    static final List<String> PROJECTIONS = list("""
            n; n, s; n,n; m.in; m.in, m; l[1]; l[1], l[0]; l[9]; missing; missing, n; m.none; #n; status; n s;
            n,; m.in, m[0]; :one; pk; l[0].x; size(n)
            """);

    static final List<String> KEY_CONDITIONS = list("""
            pk = :t; pk = :t AND sk = :te; sk = :te AND pk = :t; pk = :t AND sk < :te; pk < :t;
            pk = :t AND sk <> :te; pk = :t AND begins_with(sk, :te); pk = :t AND sk BETWEEN :te AND :t;
            pk = :t AND sk BETWEEN :t AND :te; sk = :t; pk = :one; pk = :t AND sk = :one; pk = :t OR sk = :t;
            NOT pk = :t; pk = :t AND n = :one; pk = :t AND sk > :te AND sk < :t; pk IN (:t);
            pk = :t AND sk IN (:te); (pk = :t) AND (sk = :te); ((pk = :t)); pk = sk; :t = pk;
            pk = :t AND attribute_exists(sk); pk = :t AND contains(sk, :te); pk = :t AND pk = :t; #pk = :t;
            pk = :t AND begins_with(sk, :one); begins_with(pk, :t); size(pk) = :one; pk = :t AND sk >= :te; pk;
            pk = :t AND size(sk) > :one; pk = :missing
            """);

    private EdgeExpressions() {}

    /// The last of each list is empty.
    private static List<String> list(String texts) {
        return Stream.concat(Stream.of(texts.split(";")).map(String::strip), Stream.of(""))
                .toList();
    }

    /// Those placeholders that an expression uses, or null if it uses none.
    static <V> Map<String, V> used(String expression, Map<String, V> all) {
        Map<String, V> used = new TreeMap<>();
        Matcher matcher = PLACEHOLDER.matcher(expression);
        while (matcher.find()) {
            V value = all.get(matcher.group());
            if (value != null) {
                used.put(matcher.group(), value);
            }
        }
        return used.isEmpty() ? null : used;
    }
}
