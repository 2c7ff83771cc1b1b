import com.sun.tools.attach.VirtualMachine;
import com.sun.tools.attach.VirtualMachineDescriptor;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.TreeMap;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** The requests a broker has answered, by API: for each line on stdin, one object on stdout; when stdin ends, so do we. */
public class Requests {
    // One for each API and version.
    static final String COUNTERS = "kafka.network:type=RequestMetrics,name=RequestsPerSec,*";

    /** @param args what the broker's command line contains, and no other's. */
    public static void main(String[] args) throws Exception {
        MBeanServerConnection broker = attached(args[0]);
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
        while (asked.readLine() != null) {
            System.out.println(json(answered(broker)));
        }
    }

    static MBeanServerConnection attached(String command) throws Exception {
        for (VirtualMachineDescriptor each : VirtualMachine.list()) {
            if (each.displayName().startsWith("kafka.Kafka ") && each.displayName().contains(command)) {
                VirtualMachine broker = VirtualMachine.attach(each);
                String address = broker.startLocalManagementAgent();
                broker.detach();
                return JMXConnectorFactory.connect(new JMXServiceURL(address)).getMBeanServerConnection();
            }
        }
        throw new IllegalStateException("no broker runs with " + command);
    }

    static Map<String, Long> answered(MBeanServerConnection broker) throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        for (ObjectName each : broker.queryNames(new ObjectName(COUNTERS), null)) {
            counts.merge(each.getKeyProperty("request"), (Long) broker.getAttribute(each, "Count"), Long::sum);
        }
        return counts;
    }

    static String json(Map<String, Long> counts) {
        StringBuilder said = new StringBuilder();
        counts.forEach((request, count) -> said.append(said.isEmpty() ? "{" : ",").append('"' + request + "\":" + count));
        return said.append("}").toString();
    }
}
