import java.io.File;
import java.util.List;
import org.apache.kerby.kerberos.kerb.KrbException;
import org.apache.kerby.kerberos.kerb.request.KrbIdentity;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/**
 * FOLDER PORT REALM KEYTAB=PRINCIPAL[,ALIAS…] …: a KDC over TCP, until it is killed. An alias has the key of its principal,
 * as in Active Directory all service names of one account have. Says "ready" when the keytabs are written.
 */
public class Kdc {
    public static void main(String[] told) throws Exception {
        File folder = new File(told[0]);
        SimpleKdcServer kdc = new SimpleKdcServer();
        kdc.setWorkDir(folder);
        kdc.setKdcHost("127.0.0.1");
        kdc.setKdcTcpPort(Integer.parseInt(told[1]));
        kdc.setAllowUdp(false);
        kdc.setKdcRealm(told[2]);
        kdc.init();
        kdc.start();
        for (String entry : List.of(told).subList(3, told.length)) {
            String[] sides = entry.split("=");
            add(kdc, told[2], new File(folder, sides[0]), List.of(sides[1].split(",")));
        }
        System.out.println("ready");
    }

    static void add(SimpleKdcServer kdc, String realm, File keytab, List<String> names) throws KrbException {
        kdc.createPrincipal(names.get(0));
        KrbIdentity first = kdc.getIdentityService().getIdentity(names.get(0) + "@" + realm);
        for (String alias : names.subList(1, names.size())) {
            KrbIdentity same = new KrbIdentity(alias + "@" + realm);
            first.getKeys().values().forEach(same::addKey);
            kdc.getIdentityService().addIdentity(same);
        }
        for (String name : names) {
            kdc.exportPrincipal(name, keytab);
        }
    }
}
