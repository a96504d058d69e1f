import Link from "@docusaurus/Link";
import useDocusaurusContext from "@docusaurus/useDocusaurusContext";
import reports from "@site/examples/reports.json";
import Heading from "@theme/Heading";
import Layout from "@theme/Layout";
import type { ReactNode } from "react";
import { Exchange } from "../examples/Exchange.tsx";
import { HomePageReportCard } from "../home/HomePageReportCard.tsx";
import { homePageIntroduction } from "../home/introduction.ts";
import { integratorJobs } from "../home/jobs.ts";
import { DemoWeek } from "../home/week/DemoWeek.tsx";
import styles from "./index.module.css";

/** Renders the home page with the purpose of the API, a first request, the main guides and an example report. */
export default function Home(): ReactNode {
  const { siteConfig } = useDocusaurusContext();
  return (
    <Layout description={homePageIntroduction.purpose}>
      <main className={styles.page}>
        <header className={styles.hero}>
          <div className="container">
            <div className={styles.heroGrid}>
              <div>
                <p className={styles.tagline}>{siteConfig.tagline}</p>
                <Heading as="h1">{siteConfig.title}</Heading>
                <p className={styles.lead}>{homePageIntroduction.purpose}</p>
                <p>{homePageIntroduction.audience}</p>
                <div className={styles.actions}>
                  <Link className="button button--primary button--lg" to="/docs/getting-started">
                    Get started
                  </Link>
                  <Link className="button button--secondary button--lg" to="/api/">
                    API reference
                  </Link>
                </div>
                <p className={styles.tools}>
                  Without a key, <Link to="/docs/sandboxes">create a sandbox</Link>. To see its data without a program,
                  use <Link to="/docs/console">the console</Link>.
                </p>
                <p className={styles.tools}>
                  You can also use the <Link to="/docs/client">TypeScript client</Link> or the{" "}
                  <Link to="/docs/collections">collections for Postman and Bruno</Link>.
                </p>
              </div>
              <section aria-label="First request">
                <Exchange of={reports} only={["data", "meta.totalCount"]} maxItems={1} />
                <p className={styles.tools}>
                  To run the TypeScript program, save it as <code>first.mts</code>, and run{" "}
                  <code>npx tsx first.mts</code>.
                </p>
              </section>
            </div>
          </div>
        </header>

        <section className={`container ${styles.section}`}>
          <Heading as="h2">Guides</Heading>
          <ul className={styles.jobs}>
            {integratorJobs.map(({ title, text, to, icon }) => (
              <li key={to}>
                <svg viewBox="0 0 24 24" aria-hidden="true">
                  <path d={icon} />
                </svg>
                <Heading as="h3">
                  <Link to={to}>{title}</Link>
                </Heading>
                <p>{text}</p>
              </li>
            ))}
          </ul>
        </section>

        <section className={`container ${styles.section}`}>
          <Heading as="h2">A week of the demo</Heading>
          <p className={styles.intro}>
            Each card is one request to <Link to="/api/get-metrics">GET /v1/metrics/</Link>.{" "}
            <Link to="/docs/ask-your-data">Ask your data</Link> has ten more questions, with their answers.
          </p>
          <DemoWeek />
        </section>

        <section className={`container ${styles.section}`}>
          <Heading as="h2">Example of an end-of-day report</Heading>
          <p className={styles.intro}>
            This report for a Saturday at the demo restaurant shows data from{" "}
            <Link to="/api/get-report">GET /v2/reports/&#123;id&#125;</Link>. The hourly sales are computed from the{" "}
            <Link to="/api/list-orders">orders</Link>.
          </p>
          <HomePageReportCard />
        </section>
      </main>
    </Layout>
  );
}
