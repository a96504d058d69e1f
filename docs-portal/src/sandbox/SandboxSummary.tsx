import Link from "@docusaurus/Link";
import { type ReactNode, useEffect, useState } from "react";
import { consoleUrl } from "../console/console-url.ts";
import { formatCurrencyAmount } from "../money/format-amount.ts";
import { CopyKeyButton } from "./CopyKeyButton.tsx";
import styles from "./sandbox.module.css";
import { followFilling, isKeyRejected, type SandboxProgress, type SandboxReport } from "./sandbox-requests.ts";
import type { SandboxOfTab } from "./use-sandbox.ts";

interface Props {
  sandbox: SandboxOfTab;
  /** Called if the API no longer accepts the key of the sandbox. */
  onDeleted(): void;
}

/** Renders the key of a sandbox, how far the sandbox is filled, and what to do with it. */
export function SandboxSummary({ sandbox, onDeleted }: Props): ReactNode {
  const { server, apiKey, location, expiresAt } = sandbox;
  const [progress, setProgress] = useState<SandboxProgress>();
  const [report, setReport] = useState<SandboxReport>();
  const [problem, setProblem] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another function must not begin the requests again.
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    followFilling({ server, key: apiKey, signal }, { progress: setProgress, newestReport: setReport }).catch(
      (error) => {
        if (signal.aborted) return;
        if (isKeyRejected(error)) onDeleted();
        else setProblem(`The progress is unknown: ${(error as Error).message}`);
      },
    );
    return () => controller.abort();
  }, [server, apiKey]);

  const day = (time: string) => new Date(time).toLocaleDateString("en-GB", { dateStyle: "long" });
  const isFilled = progress !== undefined && progress.done === progress.total;
  return (
    <>
      <p>
        <strong>{location.name}</strong> is yours until {day(expiresAt)}. Its API key is in the samples and forms of
        this site. The key is kept only in this browser tab: it is still here after a reload, but closing the tab
        removes it, and no other tab has it. To use the sandbox later, copy the key:
      </p>
      <p className={styles.keyRow}>
        <code className={styles.key}>{apiKey}</code>
        <CopyKeyButton apiKey={apiKey} />
      </p>
      <p role="status">
        {report
          ? `The newest report: ${formatCurrencyAmount(report.totalSales, location.currencyCode)} on ${day(report.startedAt)}. `
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
          Next:{" "}
          {consoleUrl !== undefined && (
            <>
              <Link href={consoleUrl}>open the console</Link> and sign in with the key,{" "}
            </>
          )}
          <Link to="/api/list-reports">list the reports</Link>, <Link to="/api/list-days">the business days</Link>, or{" "}
          <Link to="/api/create-sandbox-event">make something happen</Link> in the sandbox.
        </p>
      )}
    </>
  );
}
