import Link from "@docusaurus/Link";
import CodeBlock from "@theme/CodeBlock";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { siteLocale } from "../../money/format-amount.ts";
import { generateCurlSample } from "../../try-it/samples/curl.ts";
import styles from "./demo-week.module.css";
import {
  describeDays,
  describeHours,
  describePayments,
  describeProducts,
  describeTotals,
  formatDay,
  getWeekCurrency,
  type WeekChart,
} from "./figures.ts";
import { getWeekRequestPath, type Period, type WeekQuestionName } from "./questions.ts";
import { recordedOn, useWeek, type WeekState } from "./use-week.ts";
import { WeekChartView } from "./WeekChartView.tsx";

/**
 * Renders a week of the demo restaurant: totals and charts, each with a table of the same figures and with the request
 * that returns them. Shows recorded figures unless the API answers.
 */
export function DemoWeek(): ReactNode {
  const section = useRef<HTMLDivElement>(null);
  const isNear = useIsNear(section);
  const { state, server, period, answers, load } = useWeek(isNear);
  const [areTablesOpen, setAreTablesOpen] = useState(false);
  const currency = getWeekCurrency(answers);
  const totals = describeTotals(answers);
  const charts: { name: WeekQuestionName; chart: WeekChart }[] = [
    { name: "days", chart: describeDays(answers, currency) },
    { name: "hours", chart: describeHours(answers, currency) },
    { name: "products", chart: describeProducts(answers, currency) },
    { name: "payments", chart: describePayments(answers, currency) },
  ];
  const request = (name: WeekQuestionName) => <WeekRequest server={server} path={getWeekRequestPath(name, period)} />;

  return (
    <div ref={section} className={styles.week} aria-busy={state.kind === "loading"}>
      <div className={styles.source}>
        <p role="status">
          <WeekSource state={state} server={server} period={period} />
        </p>
        <div className={styles.buttons}>
          {(state.kind === "live" || state.kind === "failed") && (
            <button type="button" className="button button--secondary button--sm" onClick={() => load()}>
              {state.kind === "live" ? "Refresh" : "Try again"}
            </button>
          )}
          <button
            type="button"
            className="button button--secondary button--sm"
            aria-pressed={areTablesOpen}
            onClick={() => setAreTablesOpen(!areTablesOpen)}
          >
            {areTablesOpen ? "Close all tables" : "Open all tables"}
          </button>
        </div>
        {state.kind !== "live" && <KeyForm server={server} onKey={load} />}
      </div>
      {totals.length === 0 ? (
        <p>There are no sales on these days.</p>
      ) : (
        <div className={styles.grid}>
          <section className={`${styles.card} ${styles.totals}`} aria-label="Totals of the week">
            <dl>
              {totals.map(({ name, value, change, isLower }) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>
                    {value}
                    {change !== null && <small data-is-lower={isLower}>{change} from the week before</small>}
                  </dd>
                </div>
              ))}
            </dl>
            {request("totals")}
          </section>
          {charts.map(({ name, chart }) => (
            <section key={name} className={styles.card} aria-label={chart.title}>
              <h3>{chart.title}</h3>
              <WeekChartView chart={chart} isNear={isNear} />
              <details open={areTablesOpen}>
                <summary>Table</summary>
                <WeekTable chart={chart} />
              </details>
              {request(name)}
            </section>
          ))}
        </div>
      )}
    </div>
  );
}

/** Returns whether the element has come near the visible part of the page. Once true, it remains true. */
function useIsNear(target: { current: HTMLElement | null }): boolean {
  const [isNear, setIsNear] = useState(false);
  useEffect(() => {
    if (!target.current) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting) return;
        setIsNear(true);
        observer.disconnect();
      },
      { rootMargin: "400px" },
    );
    observer.observe(target.current);
    return () => observer.disconnect();
  }, [target]);
  return isNear;
}

/** Renders where the shown figures come from. */
function WeekSource({ state, server, period }: { state: WeekState; server: string; period: Period }): ReactNode {
  const days = `${formatDay(period.since, { day: "numeric", month: "long" })} to ${formatDay(period.until, { day: "numeric", month: "long", year: "numeric" })}`;
  const recorded = `demo’s figures of ${days}, recorded on ${formatDay(recordedOn, { dateStyle: "long" })}`;
  switch (state.kind) {
    case "live": {
      const { locationName, answeredAt } = state.week;
      const time = new Intl.DateTimeFormat(siteLocale, { timeStyle: "short" }).format(answeredAt);
      return (
        <>
          <span className={styles.state} data-state="live">
            Live
          </span>
          {locationName ?? "Your location"}, {days}, from <code>{server}</code> at {time}
        </>
      );
    }
    case "loading":
      return (
        <>
          <span className={styles.state}>Loading</span>
          Waiting for <code>{server}</code>. Until it responds, this page shows the {recorded}.
        </>
      );
    case "failed":
      return (
        <>
          <span className={styles.state} data-state="failed">
            {state.isRejected ? "Rejected" : "Not reachable"}
          </span>
          <code>{server}</code>: {state.reason}. This page shows the {recorded}.
        </>
      );
    default:
      return (
        <>
          <span className={styles.state}>Recorded</span>
          The {recorded}
        </>
      );
  }
}

/** Renders a form in which readers enter their API key to see their own figures. */
function KeyForm({ server, onKey }: { server: string; onKey(key: string): void }): ReactNode {
  const [key, setKey] = useState("");
  function submit(event: FormEvent) {
    event.preventDefault();
    onKey(key.trim());
  }
  return (
    <details className={styles.connect}>
      <summary>Show live figures</summary>
      <form onSubmit={submit} aria-label="Live figures">
        <label>
          <span>
            API key <small>stored in this browser tab only</small>
          </span>
          <input
            type="password"
            required
            autoComplete="off"
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
        </label>
        <button type="submit" className="button button--primary button--sm">
          Show
        </button>
      </form>
      <p>
        The key needs the scope <code>reports:read</code>, and is sent to <code>{server}</code>.{" "}
        <Link to="/docs/getting-started#first-request">
          <code>npm start</code> starts a demo
        </Link>
        , whose figures appear here.
      </p>
    </details>
  );
}

/** Renders the figures of a chart as a table. */
function WeekTable({ chart: { title, table } }: { chart: WeekChart }): ReactNode {
  const { head, rows } = table;
  return (
    <table className={styles.table}>
      <caption className="screen-reader-only">{title}</caption>
      <thead>
        <tr>
          {head.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the columns never change their sequence.
              <td key={index}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Renders the request that returns the figures of a card. */
function WeekRequest({ server, path }: { server: string; path: string }): ReactNode {
  const headers = { authorization: "Bearer <your key>" };
  const request = { method: "GET", url: `${server}${path}`, headers };
  return (
    <details>
      <summary>Request</summary>
      <CodeBlock language="bash">{generateCurlSample({ request, responseKind: "json" })}</CodeBlock>
    </details>
  );
}
