import Link from "@docusaurus/Link";
import { type ReactNode, useEffect, useState } from "react";
import { exampleApiUrl } from "../examples/exchange.ts";
import { formatCurrencyAmount } from "../money/format-amount.ts";
import { useApiAccess, useSandboxKey } from "../try-it/use-api-access.ts";
import styles from "./sandbox.module.css";
import {
  type CreatedSandbox,
  createSandbox,
  type FirstReport,
  followFilling,
  type SandboxProgress,
} from "./sandbox-requests.ts";

type State =
  | { kind: "none" | "creating" }
  | { kind: "created"; sandbox: CreatedSandbox }
  | { kind: "failed"; reason: string };

/**
 * Renders a button that creates a sandbox, and then its API key, which all samples and forms of the site use from then on in
 * this browser tab.
 */
export function CreateSandbox(): ReactNode {
  const { server, setKey } = useApiAccess(exampleApiUrl);
  const [, setSandboxKey] = useSandboxKey();
  const [state, setState] = useState<State>({ kind: "none" });

  async function create() {
    setState({ kind: "creating" });
    try {
      const sandbox = await createSandbox(server);
      setKey(sandbox.apiKey);
      setSandboxKey(sandbox.apiKey);
      setState({ kind: "created", sandbox });
    } catch (error) {
      setState({ kind: "failed", reason: (error as Error).message });
    }
  }

  return (
    <section className={styles.card} aria-label="Sandbox">
      {state.kind === "created" ? (
        <SandboxSummary sandbox={state.sandbox} server={server} />
      ) : (
        <>
          <p>
            A sandbox is a restaurant of your own, with 30 days of tills, a catalog and live orders that change. It
            needs no account, and is removed after two weeks.
          </p>
          <button
            type="button"
            className="button button--primary"
            onClick={create}
            disabled={state.kind === "creating"}
          >
            {state.kind === "creating" ? "Creating a sandbox…" : "Create a sandbox"}
          </button>
        </>
      )}
      {state.kind === "failed" && (
        <p role="alert" className={styles.problem}>
          {state.reason}
        </p>
      )}
    </section>
  );
}

function SandboxSummary({ sandbox, server }: { sandbox: CreatedSandbox; server: string }): ReactNode {
  const { apiKey, location, expiresAt } = sandbox;
  const [progress, setProgress] = useState<SandboxProgress>();
  const [report, setReport] = useState<FirstReport>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    followFilling({ server, key: apiKey, signal }, { progress: setProgress, firstReport: setReport }).catch((error) => {
      if (!signal.aborted) setProblem(`The progress is unknown: ${(error as Error).message}`);
    });
    return () => controller.abort();
  }, [server, apiKey]);

  const day = (time: string) => new Date(time).toLocaleDateString("en-GB", { dateStyle: "long" });
  const isFilled = progress !== undefined && progress.done === progress.total;
  return (
    <>
      <p>
        <strong>{location.name}</strong> is yours until {day(expiresAt)}. Its API key is in the samples and forms of
        this site until you close the tab. It is shown only here, so copy it if you need it later:
      </p>
      <p>
        <code className={styles.key}>{apiKey}</code>
      </p>
      <p role="status">
        {report
          ? `The first report is there: ${formatCurrencyAmount(report.totalSales, location.currencyCode)} on ${day(report.startedAt)}. `
          : "The first report is being computed. "}
        {!isFilled && progress && `${progress.done} of ${progress.total} steps of the data are done.`}
      </p>
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
      {report && (
        <p>
          Next: <Link to="/api/list-reports">list the reports</Link>, <Link to="/api/list-days">the business days</Link>
          , or <Link to="/api/create-sandbox-event">make something happen</Link> in the sandbox.
        </p>
      )}
    </>
  );
}
