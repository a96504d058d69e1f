import Link from "@docusaurus/Link";
import type { ReactNode } from "react";
import type { PushedTill } from "./pushed-till.ts";
import styles from "./styles.module.css";

/** Renders where the reader finds a pushed till and its report, which lists show only at the date of the till. */
export function PushedTillLinks({ till: { id, reportId } }: { till: PushedTill }): ReactNode {
  const form = (page: string, value: string) =>
    `/api/${page}?${new URLSearchParams([
      ["try", "true"],
      ["id", value],
    ])}`;
  return (
    <p className={styles.next}>
      Next: <Link to={form("get-till", id)}>get the till</Link>
      {reportId === null ? (
        ". It gets no report."
      ) : (
        <>
          , whose <code>reportState</code> says when its report is computed, and then{" "}
          <Link to={form("get-report", reportId)}>get the report</Link>. Lists show the report on the day on which the
          shift began, not on today's.
        </>
      )}
    </p>
  );
}
