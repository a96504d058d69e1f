import Link from "@docusaurus/Link";
import useDocusaurusContext from "@docusaurus/useDocusaurusContext";
import reports from "@site/examples/reports.json";
import Heading from "@theme/Heading";
import Layout from "@theme/Layout";
import type { ReactNode } from "react";
import { RequestCodeSamples } from "../examples/RequestCodeSamples.tsx";
import { ResponseCodeBlock } from "../examples/ResponseCodeBlock.tsx";
import { HomePageReportCard } from "../home/HomePageReportCard.tsx";
import styles from "./index.module.css";

/** Renders the home page with the purpose of the API, a first request and an example report. */
export default function Home(): ReactNode {
  const { siteConfig } = useDocusaurusContext();
  return (
    <Layout description={siteConfig.tagline}>
      <main className="container">
        <header className={styles.hero}>
          <div className={styles.heroGrid}>
            <div>
              <Heading as="h1">{siteConfig.title}</Heading>
              <p className={styles.tagline}>{siteConfig.tagline}</p>
              <p>
                Get end-of-day reports, orders and catalogs of restaurants, bars and hotels, directly from their points
                of sale. The API is for developers of accounting, inventory, delivery, hotel and point-of-sale software.
              </p>
              <div className={styles.actions}>
                <Link className="button button--primary button--lg" to="/docs/getting-started">
                  Get started
                </Link>
                <Link className="button button--secondary button--lg" to="/api/">
                  API reference
                </Link>
              </div>
            </div>
            <div>
              <RequestCodeSamples of={reports} />
              <ResponseCodeBlock of={reports} only={["data", "meta.totalCount"]} maxItems={1} />
            </div>
          </div>
        </header>

        <section className={styles.section}>
          <Heading as="h2">A day in the API</Heading>
          <p>
            This report is the response of <Link to="/api/get-report">GET /v2/reports/&#123;id&#125;</Link> for a
            Saturday at the demo restaurant. The hourly sales come from its <Link to="/api/list-orders">orders</Link>.
          </p>
          <HomePageReportCard />
        </section>

        <section className={styles.section}>
          <Heading as="h2">What you can build</Heading>
          <div className={styles.uses}>
            <div>
              <Heading as="h3">Accounting</Heading>
              <p>
                Import the sales, VAT, payments and cash movements of each shift, exact to the cent.{" "}
                <Link to="/docs/getting-started">Read a report</Link>
              </p>
            </div>
            <div>
              <Heading as="h3">Stock and kitchen</Heading>
              <p>
                Receive orders while they are open, by stream or webhook, with all fields that stock counts need.{" "}
                <Link to="/docs/order-live">Follow live orders</Link>
              </p>
            </div>
            <div>
              <Heading as="h3">Points of sale</Heading>
              <p>
                Push the till at the end of the shift, and retry safely if the response is lost.{" "}
                <Link to="/docs/edge-cases#repeated-tills">Push a till</Link>
              </p>
            </div>
          </div>
        </section>
      </main>
    </Layout>
  );
}
