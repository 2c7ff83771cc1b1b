import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ConsumerProtocolAssignment;
import org.apache.kafka.common.message.ConsumerProtocolSubscription;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/** Reads "name key version hex" lines, decodes and encodes each with Kafka's own classes, and prints where bytes differ. */
public class Oracle {
    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        int same = 0;
        for (String line; (line = lines.readLine()) != null; ) {
            String[] parts = line.split(" ", -1);
            short version = Short.parseShort(parts[2]);
            byte[] given = HexFormat.of().parseHex(parts[3]);
            String verdict;
            try {
                verdict = Arrays.equals(given, again(empty(parts[0], Short.parseShort(parts[1])), version, given)) ? null : "differs";
            } catch (Exception | Error failure) {
                verdict = failure.toString();
            }
            if (verdict == null) same++;
            else System.out.println("DIFFERENT " + parts[0] + " " + version + " " + verdict);
        }
        System.out.println("SAME " + same);
    }

    private static Message empty(String name, short key) {
        if (name.equals("ConsumerProtocolSubscription")) return new ConsumerProtocolSubscription();
        if (name.equals("ConsumerProtocolAssignment")) return new ConsumerProtocolAssignment();
        var type = ApiMessageType.fromApiKey(key);
        return name.endsWith("Request") ? type.newRequest() : type.newResponse();
    }

    private static byte[] again(Message message, short version, byte[] given) {
        var in = new ByteBufferAccessor(ByteBuffer.wrap(given));
        message.read(in, version);
        if (in.remaining() != 0) throw new IllegalStateException(in.remaining() + " bytes left over");
        var cache = new ObjectSerializationCache();
        var out = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(out), cache, version);
        return out.array();
    }
}
