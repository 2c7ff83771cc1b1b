import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ConsumerProtocolAssignment;
import org.apache.kafka.common.message.ConsumerProtocolSubscription;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Reads "name key version hex" lines, and says of each what Kafka's own classes make of it: "READ left hex" with how many bytes
 * they leave and what they write again, "UNWRITABLE left reason" where they do not write what they have read, "REFUSED left reason".
 */
public class Oracle {
    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        var said = new PrintStream(System.out, false);
        for (String line; (line = lines.readLine()) != null; ) {
            String[] parts = line.split(" ", -1);
            var message = empty(parts[0], Short.parseShort(parts[1]));
            said.println(verdict(message, Short.parseShort(parts[2]), HexFormat.of().parseHex(parts[3])));
        }
        said.flush();
    }

    private static Message empty(String name, short key) {
        if (name.equals("RequestHeader")) return new RequestHeaderData();
        if (name.equals("ConsumerProtocolSubscription")) return new ConsumerProtocolSubscription();
        if (name.equals("ConsumerProtocolAssignment")) return new ConsumerProtocolAssignment();
        var type = ApiMessageType.fromApiKey(key);
        return name.endsWith("Request") ? type.newRequest() : type.newResponse();
    }

    private static String verdict(Message message, short version, byte[] given) {
        var in = new ByteBufferAccessor(ByteBuffer.wrap(given));
        try {
            message.read(in, version);
        } catch (Exception | Error failure) {
            return "REFUSED " + in.remaining() + " " + failure;
        }
        try {
            return "READ " + in.remaining() + " " + HexFormat.of().formatHex(again(message, version));
        } catch (Exception | Error failure) {
            return "UNWRITABLE " + in.remaining() + " " + failure;
        }
    }

    private static byte[] again(Message message, short version) {
        var cache = new ObjectSerializationCache();
        var out = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(out), cache, version);
        return out.array();
    }
}
