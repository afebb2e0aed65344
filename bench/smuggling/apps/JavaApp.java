// An application on the JDK's own HTTP server.
import com.sun.net.httpserver.HttpServer;
import java.io.FileOutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Executors;

public class JavaApp {
    static String quoted(String text) {
        StringBuilder made = new StringBuilder("\"");
        for (char one : text.toCharArray()) {
            made.append(one < 0x20 || one > 0x7e || one == '"' || one == '\\' ? String.format("\\u%04x", (int) one) : String.valueOf(one));
        }
        return made.append('"').toString();
    }

    public static void main(String[] arguments) throws Exception {
        FileOutputStream out = new FileOutputStream(System.getenv("RECORD"), true);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1);
            TreeMap<String, List<String>> named = new TreeMap<>();
            exchange.getRequestHeaders().forEach((name, values) ->
                named.computeIfAbsent(name.toLowerCase().replace('_', '-'), key -> new ArrayList<>()).addAll(values));
            List<String> headers = new ArrayList<>();
            named.forEach((name, values) -> headers.add(quoted(name) + ":[" + String.join(",", values.stream().map(JavaApp::quoted).toList()) + "]"));
            String line = "{\"method\":" + quoted(exchange.getRequestMethod()) + ",\"target\":" + quoted(exchange.getRequestURI().toString())
                + ",\"headers\":{" + String.join(",", headers) + "},\"body\":" + quoted(body) + "}\n";
            synchronized (out) {
                out.write(line.getBytes(StandardCharsets.UTF_8));
            }
            boolean isHead = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(200, isHead ? -1 : 2);
            if (!isHead) {
                exchange.getResponseBody().write("ok".getBytes());
            }
            exchange.close();
        });
        server.start();
    }
}
