package dev.onefold.local.gate;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;

class ItemSizeTest {
    private static JsonNode json(String text) throws JsonProcessingException {
        return ServiceRequest.JSON.readTree(text.replace('\'', '"'));
    }

    @Test
    void each_kind_of_value_has_its_size() throws JsonProcessingException {
        assertThat(ItemSize.attributes(json("{'k':{'S':'ä'}}"))).isEqualTo(3);
        assertThat(ItemSize.attributes(json("{'n':{'N':'12345'}}"))).isEqualTo(5);
        assertThat(ItemSize.attributes(json("{'b':{'B':'QUJD'}}"))).isEqualTo(4);
        assertThat(ItemSize.attributes(json("{'m':{'M':{'a':{'BOOL':true}}}}"))).isEqualTo(7);
        assertThat(ItemSize.attributes(json("{'l':{'L':[{'S':'ab'},{'NULL':true}]}}")))
                .isEqualTo(9);
        assertThat(ItemSize.attributes(json("{'s':{'SS':['a','bc']}}"))).isEqualTo(4);
    }

    @Test
    void an_item_of_a_transaction_takes_two_units_for_each_begun_kilobyte() throws JsonProcessingException {
        String large = "x".repeat(1_100);
        assertThat(ItemSize.units(json("{'TransactItems':["
                        + "{'Put':{'TableName':'rows','Item':{'k':{'S':'" + large + "'}}}},"
                        + "{'Update':{'TableName':'rows','Key':{'k':{'S':'1'}},"
                        + "'ExpressionAttributeValues':{':v':{'N':'1'}}}},"
                        + "{'ConditionCheck':{'TableName':'gates','Key':{'k':{'S':'1'}}}}]}")))
                .containsEntry("rows", 6L)
                .containsEntry("gates", 2L)
                .hasSize(2);
    }
}
