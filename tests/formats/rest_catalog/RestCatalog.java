import java.net.InetSocketAddress;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

/**
 * A REST catalog of Iceberg for tests: `java -cp JARS RestCatalog.java FOLDER`.
 *
 * <p>It listens on 127.0.0.1 only, unlike Iceberg's own test server, prints its address, and keeps the catalog and the
 * tables in the folder.
 */
class RestCatalog {
  public static void main(String[] arguments) throws Exception {
    Map<String, String> properties =
        Map.of(
            CatalogProperties.CATALOG_IMPL, JdbcCatalog.class.getName(),
            CatalogProperties.URI, "jdbc:sqlite:" + arguments[0] + "/catalog.db",
            CatalogProperties.WAREHOUSE_LOCATION, arguments[0] + "/tables",
            CatalogProperties.CLIENT_POOL_SIZE, "1", // SQLite has one writer
            "jdbc.schema-version", "V1"); // with views
    var catalog = CatalogUtil.buildIcebergCatalog("tables", properties, new Configuration());
    var requests = new ServletContextHandler();
    requests.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    var server = new Server(new InetSocketAddress("127.0.0.1", 0));
    server.setHandler(requests);
    server.start();
    System.out.println(server.getURI());
    server.join();
  }
}
